import { type Figure, figure, median } from './figures.ts';

/** What was measured at one size, by name. */
interface Measured {
  crowd: { count: number };
  seen: Record<string, number[]>;
}

/** The pages of a crawl: at most 1,000 of 100 records, spread over the whole list in its order. */
export function crawlPages(count: number): number {
  return Math.min(1000, Math.ceil(count / 100));
}

/** The figures of one size, beside those of the size before it. */
export function figuresOf(subjects: Measured[], at: number, expired: number): Figure[] {
  const of = (what: string, which = at) => median(subjects[which]?.seen[what] ?? []);
  const page = (which: number) =>
    of('crawl', which) / crawlPages(subjects[which]?.crowd.count ?? 0);
  const against = (what: string) => (100 * of(what)) / of(what, at - 1);
  const kept = (what: string, least: number) =>
    at === 0 ? [] : [figure('  against the size before', against(what), '%', { least })];
  const longer = (now: number, before: number, most: number) =>
    at === 0 ? [] : [figure('  against the size before', (100 * now) / before, '%', { most })];
  const share = (what: string) => (100 * of(what)) / of('userName');
  const few = subjects[at]?.seen['backup'] === undefined ? [] : ['backup'];
  return [
    figure('database', of('size'), 'MB'),
    figure('filter userName eq', of('userName'), '/s'),
    ...kept('userName', 85),
    figure('  externalId eq, against it', share('externalId'), '%', { least: 80 }),
    figure('  emails.value eq, against it', share('emails.value'), '%', { least: 80 }),
    figure('first SCIM page after a start', of('first page after a start'), 'ms'),
    figure('a page of a crawl', page(at), 'ms'),
    ...longer(page(at), page(at - 1), (subjects[at]?.crowd.count ?? 0) > 100_000 ? 150 : 130),
    figure('a deep page, against the first', (100 * of('first page')) / of('deep page'), '%', {
      most: 300,
    }),
    figure('first page of members', of('first members'), '/s'),
    ...kept('first members', 85),
    figure('  a deep one, against it', (100 * of('deep members')) / of('first members'), '%', {
      least: 85,
    }),
    figure('sign-in', of('sign-in'), '/s'),
    ...kept('sign-in', 85),
    figure('SCIM create', of('create'), '/s'),
    ...kept('create', 85),
    figure('sweep of nothing', of('sweep of nothing'), 'ms'),
    figure(`sweep of ${expired} rows of five kinds`, of('sweep'), 'ms'),
    ...longer(of('sweep'), of('sweep', at - 1), 130),
    figure('  its longest pause', of('sweep, longest pause'), 'ms'),
    figure('sweep of 300,000 of each', of('sweep of 300,000'), 'ms'),
    figure('  its longest pause', of('sweep of 300,000, longest pause'), 'ms'),
    figure('  states that one run deletes', of('states swept'), 'rows'),
    figure('  events that one run deletes', of('events swept'), 'rows'),
    ...few.map(() => figure('backup', of('backup'), 'ms')),
    ...few.map(() => figure('  its file', of('size of the backup'), 'MB')),
  ];
}
