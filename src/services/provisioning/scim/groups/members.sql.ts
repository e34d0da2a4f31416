import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { hold } from '../../../../database/hold.ts';
import { insertRows, select, selectAmong } from '../../../../database/select.ts';
import { isUuid } from '../../../foundation/fields.ts';
import { readAllRows } from '../../../foundation/page.ts';
import type { Group } from './group.sql.ts';
import { type Members, noSuchUser } from './read.ts';

// The SQL of the members of groups, in chunks.

/** The Users among `recordIds` that are in the group. */
export async function findMembers({ id }: Group, recordIds: string[]): Promise<string[]> {
  const rows = await inChunks(recordIds, (some) =>
    selectAmong<{ id: string }>(
      some,
      (list, group) => `SELECT record_id AS id FROM scim_group_members
        WHERE record_id IN (${list}) AND group_id = ${group}`,
      [id],
    ),
  );
  return rows.map(({ id }) => id);
}

/** The ids of all members. */
export async function readMemberIds({ id }: Group): Promise<string[]> {
  const rows = await readAllRows((after, count) => findMemberIds(id, after, count));
  return rows.map(({ id }) => id);
}

/** The ids of the next members. */
export function findMemberIds(
  groupId: string,
  after: string,
  limit: number,
): Promise<{ id: string }[]> {
  return select<{ id: string }>(
    `SELECT record_id AS id FROM scim_group_members WHERE group_id = $1 AND record_id > $2
      ORDER BY record_id LIMIT $3`,
    [groupId, after, limit],
  );
}

/** A member as its group shows it. */
export interface ShownMember {
  id: string;
  display: string | null;
  /** Null if the member has a `display`. */
  resource: string | null;
}

/** The next members. */
export function readShownMembers(
  groupId: string,
  after: string,
  limit: number,
): Promise<ShownMember[]> {
  return select<ShownMember>(
    `SELECT m.record_id AS id, m.display,
        CASE WHEN m.display IS NULL THEN r.resource END AS resource
       FROM scim_group_members m JOIN scim_records r ON r.id = m.record_id
      WHERE m.group_id = $1 AND m.record_id > $2 ORDER BY m.record_id LIMIT ${limit}`,
    [groupId, after],
    { prepared: true },
  );
}

/** The groups of each of these Users, in the order of their names. */
export function findGroupsOf(
  recordIds: string[],
): Promise<{ recordId: string; value: string; display: string }[]> {
  return selectAmong<{ recordId: string; value: string; display: string }>(
    recordIds,
    (list) => `SELECT m.record_id AS "recordId", g.id AS value, g.display_name AS display
       FROM scim_group_members m JOIN scim_groups g ON g.id = m.group_id
      WHERE m.record_id IN (${list}) ORDER BY g.display_name_canonical`,
  );
}

/**
 * Adds Users of the organization. The refusal of any other id does not reveal whether the id
 * exists.
 */
export async function insertMembers(
  { id, organizationId }: Group,
  members: Members,
): Promise<void> {
  const ids = [...members.keys()];
  const known = await holdRecords(organizationId, ids.filter(isUuid));
  const stranger = ids.find((one) => !known.has(one));
  if (stranger !== undefined) throw noSuchUser(stranger);
  await inChunks([...members], async (some) => {
    const rows = some.map(([record_id, display]) => {
      return { group_id: id, record_id, organization_id: organizationId, display };
    });
    await insertRows('scim_group_members', rows);
    return [];
  });
}

/** The ids of visible Users among `ids`. Locks them, so that they cannot be removed. */
async function holdRecords(organizationId: string, ids: string[]): Promise<Set<string>> {
  const rows = await inChunks(ids.toSorted(), (some) =>
    hold.among<{ id: string }>(
      [
        some,
        (list, organization) => `SELECT id FROM scim_records
          WHERE id IN (${list}) AND organization_id = ${organization} AND hidden = false
          ORDER BY id`,
        [organizationId],
      ],
      { kind: 'scimRecord', how: 'kept', id: ({ id }) => id },
    ),
  );
  return new Set(rows.map(({ id }) => id));
}

/** Removes Users from the group. */
export async function deleteMembers({ id }: Group, recordIds: string[]): Promise<void> {
  await inChunks(recordIds, (some) =>
    selectAmong(
      some,
      (list, group) => `DELETE FROM scim_group_members
        WHERE record_id IN (${list}) AND group_id = ${group} RETURNING 1`,
      [id],
    ),
  );
}

/** The ids of some members, at most `max`. */
export async function findSomeMembers({ id }: Group, max: number): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT record_id AS id FROM scim_group_members WHERE group_id = $1 LIMIT $2`,
    [id, max],
  );
  return rows.map(({ id }) => id);
}

/** The accounts of Users of the organization. */
export async function accountsOf(organizationId: string, recordIds: string[]): Promise<string[]> {
  const rows = await inChunks(recordIds, (some) =>
    selectAmong<{ id: string }>(
      some,
      (list, organization) => `SELECT account_id AS id FROM scim_records
        WHERE id IN (${list}) AND organization_id = ${organization}`,
      [organizationId],
    ),
  );
  return [...new Set(rows.map(({ id }) => id))];
}

const chunk = 100;

/** Does the work in chunks. Lets other requests run in between. */
async function inChunks<Item, Row>(
  items: Item[],
  work: (some: Item[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < items.length; at += chunk) {
    if (at > 0) await yieldToEventLoop();
    rows.push(...(await work(items.slice(at, at + chunk))));
  }
  return rows;
}
