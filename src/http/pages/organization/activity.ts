import { listActivity } from '../../../services/foundation/events/activity.ts';
import { exportEvents } from '../../../services/foundation/events/export.ts';
import type { SeenEventName } from '../../../services/foundation/events/kinds.ts';
import { reasonSentence } from '../../../services/signin/reason-words.ts';
import { showOrganization } from '../../../services/tenancy/organizations/operations.ts';
import { dayText, minuteText, timeText } from '../../../text/dates.ts';
import { type Html, html } from '../html.ts';
import { accessTo, type Page, page, type ShownPage, type Visit, viewPage } from '../page.ts';
import { choice, field } from '../parts.ts';
import { pageLinks, rows } from '../rows.ts';
import { aboutOf, sentenceOf } from './event-sentence.ts';
import { sheet } from './sheet.ts';

type Activity = Awaited<ReturnType<typeof listActivity>>;
type Event = Activity['items'][number];

const path = '/orgs/:org/activity';

/** What happened in an organization, newest first, with a search. */
const activityPage = viewPage(
  path,
  listActivity,
  async (visit, view, { kind, person, from, to }) => {
    const { items, names, nextCursor, previousCursor } = view;
    const filter = { kind, person, from, to };
    const shown = { ...filter, person: view.person?.email ?? person };
    return activitySheet(visit, shown, (at) => {
      const days = Map.groupBy(items, ({ at }) => dayText(at));
      const lists = Array.from(
        days,
        ([day, events], place) => html`<section aria-labelledby="day-${place}">
<h2 id="day-${place}">${day}</h2>
${rows(events.map((event) => rowOf(event, names, at)))}</section>`,
      );
      return html`${items.length === 0 ? html`<section><p class="quiet">There are no such events.</p></section>` : lists}
${pageLinks(at, filter, { nextCursor, previousCursor })}
${items.length > 0 && downloads(at, filter)}`;
    });
  },
  (visit) => activitySheet(visit, visit.given, () => html``),
);

/**
 * Sends the browser to the file. The address of the file is outside the pages, where a browser
 * could not renew its session.
 */
const downloadPage = page({
  path: `${path}/download`,
  access: accessTo(exportEvents),
  input: exportEvents.input,
  show: ({ given }, { org }) => {
    const fields = Object.entries(given).filter(
      ([name]) => name !== 'org' && Object.hasOwn(exportEvents.input.shape, name),
    );
    return {
      goTo: `/api/v1/orgs/${encodeURIComponent(org)}/events?${new URLSearchParams(fields)}`,
    };
  },
});

/** The pages of the activity of an organization. */
export const activityPages: Page[] = [activityPage, downloadPage];

/** Links to all events of the search, as files. */
function downloads(at: string, filter: Filter): Html {
  const known = Object.entries(filter).filter(
    (field): field is [string, string] => field[1] !== undefined,
  );
  const link = (format: string, text: string) =>
    html`<a href="${`${at}/download?${new URLSearchParams([...known, ['format', format]])}`}">${text}</a>`;
  return html`<p class="quiet">Download all events of this search: ${link('csv', 'CSV for spreadsheets')} or ${link('jsonl', 'JSON Lines')}</p>`;
}

type Filter = Partial<Record<'kind' | 'person' | 'from' | 'to', string | undefined>>;

async function activitySheet(
  visit: Visit,
  filter: Filter,
  content: (at: string) => Html,
): Promise<ShownPage> {
  const { slug, name } = await showOrganization(visit.ctx, { org: visit.given['org'] ?? '' });
  const at = `/orgs/${slug}/activity`;
  return sheet(
    visit,
    `Activity of ${name}`,
    html`<section aria-label="Search">${searchForm(visit, at, filter)}</section>
${content(at)}`,
  );
}

type GroupOf<Name> = Name extends `${infer Group}.${string}` ? Group : never;

/** The groups of the kinds that an organization sees. */
const groups: Record<GroupOf<SeenEventName>, string> = {
  organization: 'Organization',
  member: 'Members',
  invitation: 'Invitations',
  setup: 'Setup links',
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

function searchForm(visit: Visit, at: string, { kind = '', person, from, to }: Filter): Html {
  const options: Record<string, string> = {
    '': 'Everything',
    ...Object.fromEntries(Object.entries(groups).map(([group, text]) => [`${group}.*`, text])),
  };
  options[kind] ??= aboutOf(kind) ?? 'Something else';
  const date = { autocomplete: 'off', search: true } as const;
  return html`<form method="get" action="${at}" role="search" class="search many">
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

function rowOf(event: Event, names: Activity['names'], at: string) {
  return {
    name: timeText(event.at),
    text: sentenceOf(event, names, at),
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
