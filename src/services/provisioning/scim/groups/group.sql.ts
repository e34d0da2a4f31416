import type { Attributes } from 'sequelize';
import { hold } from '../../../../database/hold.ts';
import type { ScimGroup } from '../../../../database/models/scim-group.ts';
import { select } from '../../../../database/select.ts';
import { isUuid } from '../../../foundation/fields.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { type Listing, ofIds } from '../list/listing.sql.ts';
import { groupNames } from './attributes.ts';

/** A group as plain data, without its members. */
export type Group = Omit<Attributes<ScimGroup>, 'displayNameCanonical'>;

/** The columns of a group, from `scim_groups r`. */
const groupColumns = `r.id, r.organization_id AS "organizationId",
  r.display_name AS "displayName", r.external_id AS "externalId", r.version,
  r.created_at AS "createdAt", r.modified_at AS "modifiedAt"`;

/** The kinds of these columns. */
const groupKinds = { createdAt: 'time', modifiedAt: 'time' } as const;

/** The Groups of an organization. */
export const groupListing: Listing<Group> = {
  names: groupNames,
  table: 'scim_groups',
  columns: groupColumns,
  kinds: groupKinds,
  visible: 'true',
  places: {
    id: { from: 'scim_groups', by: 'id', row: 'id', ...ofIds },
    displayName: { from: 'scim_groups', by: 'display_name_canonical', row: 'id', stored: fold },
    externalId: { from: 'scim_groups', by: 'external_id', row: 'id' },
    member: { from: 'scim_group_members', by: 'record_id', row: 'group_id', ...ofIds },
  },
};

const finding = `SELECT ${groupColumns} FROM scim_groups r
  WHERE r.id = $1 AND r.organization_id = $2`;

const how = { prepared: true, columns: groupKinds } as const;

/** The organization's group with this id; 404 if there is none. */
export function requireGroup(organizationId: string, id: string): Promise<Group> {
  return requireFound(id, () => select<Group>(finding, [id.toLowerCase(), organizationId], how));
}

/** Like `requireGroup`, and locks the group for a change, and the mappings beside other pushes. */
export async function holdGroup(organizationId: string, id: string): Promise<Group> {
  await hold.mappings(organizationId, 'beside');
  return requireFound(id, () =>
    hold.rows<Group>([finding, [id.toLowerCase(), organizationId], how], {
      kind: 'scimGroup',
      how: 'whole',
      id: (row) => row.id,
    }),
  );
}

async function requireFound(id: string, find: () => Promise<Group[]>): Promise<Group> {
  const [row] = isUuid(id) ? await find() : [];
  if (row !== undefined) return row;
  throw scimRefusal(404, undefined, `There is no Group ${id.slice(0, 100)}.`);
}

/** A page of the organization's groups, oldest first, and the total. */
export async function readGroupList(
  organizationId: string,
  { from, count }: { from: number; count: number },
): Promise<{ total: number; records: Group[] }> {
  const [counted] = await select<{ total: number }>(
    'SELECT count(*) AS total FROM scim_groups WHERE organization_id = $1',
    [organizationId],
  );
  const records = await select<Group>(
    `SELECT ${groupColumns} FROM scim_groups r WHERE r.organization_id = $1
      ORDER BY r.created_at, r.id LIMIT $2 OFFSET $3`,
    [organizationId, count, from],
    { columns: groupKinds },
  );
  return { total: counted?.total ?? 0, records };
}
