import { type Figure, figure, median } from './figures.ts';

/** The measured values of one size, by name. */
interface Measured {
  crowd: { count: number };
  seen: Record<string, number[]>;
}

/**
 * The number of pages that a crawl reads: at most 200, each with 100 records, spread in order over
 * the whole list.
 */
export function crawlPages(count: number): number {
  return Math.min(200, Math.ceil(count / 100));
}

/** The figures of one size, compared with those of the size before it. */
export function figuresOf(subjects: Measured[], at: number, expired: number): Figure[] {
  const of = (what: string, which = at) => median(subjects[which]?.seen[what] ?? []);
  const quicker = (than: number, now: number) => (100 * than) / now;
  const beside = (what: string, least: number) =>
    at === 0
      ? []
      : [
          figure('  speed against the size before', quicker(of(what, at - 1), of(what)), '%', {
            least,
          }),
        ];
  const share = (what: string, than: string) => quicker(of(than), of(what));
  const few = (what: string) => (subjects[at]?.seen[what] === undefined ? [] : [what]);
  const large = (subjects[at]?.crowd.count ?? 0) > 100_000;
  return [
    figure('database', of('size'), 'MB'),
    figure('filter userName eq', of('userName'), 'ms'),
    ...beside('userName', 85),
    figure('  speed of externalId eq, against it', share('externalId', 'userName'), '%', {
      least: 80,
    }),
    figure('  speed of emails.value eq, against it', share('emails.value', 'userName'), '%', {
      least: 80,
    }),
    figure('first SCIM page after a start', of('first page after a start'), 'ms'),
    figure('a page of a crawl', of('crawl'), 'ms'),
    ...beside('crawl', large ? 67 : 77),
    figure('  a deep page at random, against the first', share('first page', 'deep page'), '%', {
      most: 300,
    }),
    figure('first page of members', of('first members'), 'ms'),
    ...beside('first members', 85),
    figure('  speed of a deep one, against it', share('deep members', 'first members'), '%', {
      least: 85,
    }),
    ...[
      ['search of members', 'search'],
      ['explain', 'explain'],
      ['plan of an organization of a hundred', 'plan'],
      ['org list', 'org list'],
      ['status', 'status'],
      ['doctor', 'doctor'],
    ].flatMap(([title = '', what = '']) => [figure(title, of(what), 'ms'), ...beside(what, 67)]),
    figure('sign-in', of('sign-in'), 'ms'),
    ...beside('sign-in', 85),
    figure('SCIM create', of('create'), 'ms'),
    ...beside('create', 85),
    figure('sweep of nothing', of('sweep of nothing'), 'ms'),
    figure(`sweep of ${expired} rows of five kinds`, of('sweep'), 'ms'),
    ...beside('sweep', 77),
    figure('  its longest pause', of('sweep, longest pause'), 'ms'),
    ...few('backup').flatMap((what) => [
      figure('backup', of(what), 'ms'),
      figure('  its file', of('size of the backup'), 'MB'),
    ]),
  ];
}
