import { z } from 'zod';
import { Membership } from '../../../database/models/membership.ts';
import { Project } from '../../../database/models/project.ts';
import { type Shown, shownTo } from '../authority/shown.ts';
import { id, isUuid, ref } from '../fields.ts';
import { operation } from '../operation.ts';
import { pageInput } from '../page.ts';
import { earlierOf, filterInput, laterOf, wantedBy } from './filter.ts';
import { findEvents, type Wanted } from './list.sql.ts';
import type { StoredEvent } from './stored.sql.ts';
import { viewEvent } from './view.ts';

/**
 * Lists the organization's events as people read them: newest first, with the names for the ids in
 * their data. `names` has members and projects of today, so a former member has none. `person` is the
 * member of the filter.
 */
export const listActivity = operation({
  authority: 'events.see',
  input: z.strictObject({
    org: ref,
    ...filterInput,
    ...pageInput,
    before: id.optional().describe('Reads the page of newer events, from `previousCursor`.'),
  }),
  run: async (ctx, { org: _, cursor, before, limit, ...filter }, { organization }) => {
    const wanted = await wantedBy(ctx, organization.id, filter);
    const { events, ...cursors } = await readPage(wanted, { cursor, before, limit });
    const accounts = [...idsIn(events.map(({ data }) => data['account'])), ...idsIn([wanted.key])];
    const people = await membersAmong(organization.id, accounts);
    const projects = await Project.findAll({
      where: { organizationId: organization.id, id: idsIn(events.flatMap(projectsOf)) },
      attributes: ['id', 'slug'],
    });
    return {
      items: events.map(viewEvent),
      names: new Map([
        ...Array.from(people, ([key, { name }]) => [key, name] as const),
        ...projects.map(({ id: key, slug }) => [key, slug] as const),
      ]),
      person: people.get(wanted.key ?? '') ?? null,
      ...cursors,
    };
  },
});

interface At {
  cursor?: string | undefined;
  before?: string | undefined;
  limit: number;
}

/** Reads the page of events before the cursor, or of those after `before`, newest first. */
async function readPage(wanted: Wanted, { cursor, before, limit }: At) {
  const back = before !== undefined;
  const found = await findEvents(
    {
      ...wanted,
      after: laterOf(wanted.after, before ?? null),
      before: earlierOf(wanted.before, cursor ?? null),
    },
    { newestFirst: !back, limit: limit + 1 },
  );
  const hasMore = found.length > limit;
  const events = back ? found.slice(0, limit).reverse() : found.slice(0, limit);
  const newest = events.at(0)?.id ?? null;
  const oldest = events.at(-1)?.id ?? null;
  return {
    events,
    nextCursor: back || hasMore ? oldest : null,
    previousCursor: (back ? hasMore : cursor !== undefined) ? newest : null,
  };
}

/** The members with these ids, as the organization sees them. */
async function membersAmong(organizationId: string, ids: string[]): Promise<Map<string, Shown>> {
  const where = { organizationId, accountId: ids };
  const rows = await Membership.findAll({ where, include: 'account' });
  const shown = await shownTo(
    organizationId,
    rows.map(({ account }) => account),
  );
  return new Map(rows.map(({ account }) => [account.id, shown(account)]));
}

/** The projects that group sync changed, from the data of the event. */
function projectsOf({ data: { adds, changes, removes } }: StoredEvent): unknown[] {
  const entries: unknown[] = [adds, changes, removes].flat();
  return entries.map(
    (entry) => typeof entry === 'object' && entry !== null && Reflect.get(entry, 'projectId'),
  );
}

function idsIn(values: unknown[]): string[] {
  const texts = values.filter((value) => typeof value === 'string');
  return [...new Set(texts.filter(isUuid))];
}
