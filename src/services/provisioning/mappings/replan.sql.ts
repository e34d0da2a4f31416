import { keeping } from '../../../database/hold-rows.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { execute, select, selectAmong } from '../../../database/select.ts';
import { readAllRows } from '../../foundation/page.ts';
import { fold } from '../../foundation/scim-user/names.ts';

// The SQL that finds the people of groups and mappings, and the list of people to recompute.

/** Puts people on the list. Omits accounts that were just deleted. */
export async function insertReplans(organizationId: string, accountIds: string[]): Promise<void> {
  const list = accountIds.map((_, place) => `$${place + 2}`).join(', ');
  await execute(
    `INSERT INTO scim_replans (organization_id, account_id)
     SELECT o.id, a.id FROM organizations o JOIN accounts a ON a.id IN (${list})
      WHERE o.id = $1 ORDER BY a.id ${keeping('a')}
     ON CONFLICT (organization_id, account_id) DO NOTHING`,
    [organizationId, ...accountIds],
  );
}

/** The accounts of all members of a SCIM group. */
export async function readAccountsIn(groupId: string): Promise<string[]> {
  const members = await readAllRows((after, count) =>
    select<{ id: string; accountId: string }>(
      `SELECT m.record_id AS id, r.account_id AS "accountId"
         FROM scim_group_members m JOIN scim_records r ON r.id = m.record_id
        WHERE m.group_id = $1 AND m.record_id > $2 ORDER BY m.record_id LIMIT $3`,
      [groupId, after, count],
    ),
  );
  return members.map(({ accountId }) => accountId);
}

/** The accounts of some members of these SCIM groups; of all if they are fewer than `max`. */
export async function findSomeAccountsIn(groupIds: string[], max: number): Promise<string[]> {
  const people = await selectAmong<{ id: string }>(
    groupIds,
    (list, limit) => `SELECT DISTINCT r.account_id AS id
       FROM scim_group_members m JOIN scim_records r ON r.id = m.record_id
      WHERE m.group_id IN (${list}) LIMIT ${limit}`,
    [max],
  );
  return [...new Set(people.map(({ id }) => id))];
}

/** Whether the organization has SCIM groups. */
export async function hasGroups(organizationId: string): Promise<boolean> {
  const groups = await select('SELECT id FROM scim_groups WHERE organization_id = $1 LIMIT 1', [
    organizationId,
  ]);
  return groups.length > 0;
}

/** The SCIM groups with one of these display names, in any case. */
export function findGroupsNamed(
  organizationId: string,
  names: string[],
): Promise<{ id: string; name: string }[]> {
  return selectAmong<{ id: string; name: string }>(
    [...new Set(names.map(fold))],
    (list, organization) => `SELECT id, display_name AS name FROM scim_groups
      WHERE display_name_canonical IN (${list}) AND organization_id = ${organization}`,
    [organizationId],
  );
}

/** The SCIM groups with one of these external ids. */
export function findGroupsByExternalId(
  organizationId: string,
  externalIds: string[],
): Promise<{ id: string }[]> {
  return selectAmong<{ id: string }>(
    externalIds,
    (list, organization) => `SELECT id FROM scim_groups
      WHERE external_id IN (${list}) AND organization_id = ${organization}`,
    [organizationId],
  );
}

/** Whether a mapping names one of these groups. */
export async function isMapped(organizationId: string, names: readonly string[]): Promise<boolean> {
  const found = await selectAmong(
    names,
    (list, organization) => `SELECT id FROM group_mappings
      WHERE group_name IN (${list}) AND organization_id = ${organization} LIMIT 1`,
    [organizationId],
  );
  return found.length > 0;
}

/** An organization with people on the list. */
export type Listed = Pick<Organization, 'id' | 'createdBy'>;

/** The organizations with people on the list. */
export function findListed(): Promise<Listed[]> {
  return select<Listed>(
    `SELECT o.id, o.created_by AS "createdBy" FROM organizations o
      WHERE EXISTS (SELECT 1 FROM scim_replans r WHERE r.organization_id = o.id) ORDER BY o.id`,
    [],
  );
}

/** The accounts of the first `max` people on an organization's list. */
export async function findReplans(organizationId: string, max: number): Promise<string[]> {
  const listed = await select<{ id: string }>(
    `SELECT account_id AS id FROM scim_replans WHERE organization_id = $1
      ORDER BY account_id LIMIT ${max}`,
    [organizationId],
  );
  return listed.map(({ id }) => id);
}

/** Takes these people off the list. Returns those that were on it. */
export async function takeReplans(organizationId: string, accountIds: string[]): Promise<string[]> {
  const rows = await selectAmong<{ id: string }>(
    accountIds,
    (list, organization) => `DELETE FROM scim_replans
      WHERE account_id IN (${list}) AND organization_id = ${organization}
      RETURNING account_id AS id`,
    [organizationId],
  );
  return rows.map(({ id }) => id);
}
