import { execute, select } from '../../../../database/select.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import type { Group } from './group.sql.ts';

// The SQL of SCIM groups.

/** The next groups of the organization, by id. */
export function findGroupIds(
  organizationId: string,
  after: string,
  limit: number,
): Promise<{ id: string }[]> {
  return select<{ id: string }>(
    'SELECT id FROM scim_groups WHERE organization_id = $1 AND id > $2 ORDER BY id LIMIT $3',
    [organizationId, after, limit],
  );
}

/** The id of the organization's group with this name in any case, or null. */
export async function findIdNamed(organizationId: string, named: string): Promise<string | null> {
  const [group] = await select<{ id: string }>(
    'SELECT id FROM scim_groups WHERE organization_id = $1 AND display_name_canonical = $2',
    [organizationId, fold(named)],
  );
  return group?.id ?? null;
}

/** Whether the User is in any group. */
export async function isInGroup(recordId: string): Promise<boolean> {
  const rows = await select(
    'SELECT 1 AS one FROM scim_group_members WHERE record_id = $1 LIMIT 1',
    [recordId],
    { prepared: true },
  );
  return rows.length > 0;
}

/** Writes the names, the version and the time of a group. */
export async function updateGroup(group: Group): Promise<void> {
  const { id, displayName, externalId, version, modifiedAt } = group;
  await execute(
    `UPDATE scim_groups SET display_name = $2, display_name_canonical = $3, external_id = $4,
       version = $5, modified_at = $6 WHERE id = $1`,
    [id, displayName, fold(displayName), externalId, version, modifiedAt],
  );
}

/** Deletes a group without members. */
export async function deleteGroupRow(id: string): Promise<void> {
  await execute('DELETE FROM scim_groups WHERE id = $1', [id]);
}
