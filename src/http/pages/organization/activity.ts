import { listActivity } from '../../../services/foundation/events/activity.ts';
import type { SeenEventName } from '../../../services/foundation/events/kinds.ts';
import { reasonSentence } from '../../../services/signin/reason-words.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { dayText, minuteText, timeText } from '../../../text/dates.ts';
import { type Html, html } from '../html.ts';
import { type ShownPage, type Visit, viewPage } from '../page.ts';
import { choice, field } from '../parts.ts';
import { pageLinks, rows } from '../rows.ts';
import { aboutOf, sentenceOf } from './event-sentence.ts';
import { sheet } from './sheet.ts';

type Activity = Awaited<ReturnType<typeof listActivity>>;
type Event = Activity['items'][number];

/** What happened in an organization, newest first, with a search. */
export const activityPage = viewPage(
  '/orgs/:org/activity',
  listActivity,
  async (visit, view, { kind, person, from, to }) => {
    const { items, names, nextCursor, previousCursor } = view;
    const filter = { kind, person, from, to };
    const shown = { ...filter, person: view.person?.email ?? person };
    return activitySheet(visit, shown, (path) => {
      const days = Map.groupBy(items, ({ at }) => dayText(at));
      const lists = Array.from(
        days,
        ([day, events], at) => html`<section aria-labelledby="day-${at}">
<h2 id="day-${at}">${day}</h2>
${rows(events.map((event) => rowOf(event, names, path)))}</section>`,
      );
      return html`${items.length === 0 ? html`<section><p class="quiet">There are no such events.</p></section>` : lists}
${pageLinks(path, filter, { nextCursor, previousCursor })}`;
    });
  },
  (visit) => activitySheet(visit, visit.given, () => html``),
);

type Filter = Partial<Record<'kind' | 'person' | 'from' | 'to', string | undefined>>;

async function activitySheet(
  visit: Visit,
  filter: Filter,
  content: (path: string) => Html,
): Promise<ShownPage> {
  const { slug, name } = await showOrganization(visit.ctx, { org: visit.given['org'] ?? '' });
  const path = `/orgs/${slug}/activity`;
  return sheet(
    visit,
    `Activity of ${name}`,
    html`<section aria-label="Search">${searchForm(visit, path, filter)}</section>
${content(path)}`,
  );
}

type GroupOf<Name> = Name extends `${infer Group}.${string}` ? Group : never;

/** The groups of the kinds that an organization sees. */
const groups: Record<GroupOf<SeenEventName>, string> = {
  organization: 'Organization',
  member: 'Members',
  invitation: 'Invitations',
  project: 'Projects',
  domain: 'Domains',
  session: 'Sign-ins',
  sso: 'Single sign-on',
  ldap: 'Directory (LDAP)',
  signin: 'Sign-in settings',
  scim: 'Accounts from a directory (SCIM)',
  mapping: 'Groups',
  client: 'Applications',
  app: 'Apps',
  webhook: 'Webhooks',
  identity: 'Linked accounts',
  user: 'New accounts',
  account: 'Removed credentials',
  mail: 'Mail',
};

function searchForm(visit: Visit, path: string, { kind = '', person, from, to }: Filter): Html {
  const options: Record<string, string> = {
    '': 'Everything',
    ...Object.fromEntries(Object.entries(groups).map(([group, text]) => [`${group}.*`, text])),
  };
  options[kind] ??= aboutOf(kind) ?? 'Something else';
  const date = { autocomplete: 'off', search: true } as const;
  return html`<form method="get" action="${path}" role="search" class="search many">
${choice(visit, { name: 'kind', label: 'What', options, value: kind })}
${field(visit, { name: 'person', label: 'Person', note: 'An e-mail address', autocomplete: 'off', value: person, maxLength: 1000, search: true })}
${field(visit, { ...date, name: 'from', label: 'From', type: typeOf(from), value: from })}
${field(visit, { ...date, name: 'to', label: 'To', type: typeOf(to), value: to })}
<button type="submit">Search</button>
</form>`;
}

/** A browser shows a day in a field for dates, and nothing else. */
function typeOf(value: string | undefined): 'date' | 'text' {
  return value === undefined || /^\d{4}-\d\d-\d\d$/.test(value) ? 'date' : 'text';
}

function rowOf(event: Event, names: Activity['names'], path: string) {
  return {
    name: timeText(event.at),
    text: sentenceOf(event, names, path),
    facts: [reasonOf(event), timesOf(event)],
  };
}

function reasonOf({ kind, data: { reason } }: Event): string | false {
  const isRefusal = /\.(refused|failed)$/.test(kind) && typeof reason === 'string';
  return isRefusal && reasonSentence(reason, { kind });
}

/** How often the event was repeated, for one that counts repeats. */
function timesOf({ data: { count, lastAt } }: Event): string | false {
  const isRepeated = typeof count === 'number' && count > 1 && typeof lastAt === 'string';
  return isRepeated && `${count} times, the last on ${minuteText(lastAt)}`;
}
