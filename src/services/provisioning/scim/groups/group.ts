import type { Attributes } from 'sequelize';
import type { ScimGroup } from '../../../../database/models/scim-group.ts';
import { dialectOfDatabase, select } from '../../../../database/select.ts';
import { isUuid } from '../../../foundation/fields.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../../foundation/scim-user/refusal.ts';
import { type Listing, ofIds } from '../list/listing.ts';
import { groupNames } from './attributes.ts';

/** A group as plain data, without its members. */
export type Group = Omit<Attributes<ScimGroup>, 'displayNameCanonical'>;

/** A group as plain SQL returns it. SQLite returns times as text. */
export interface GroupRow extends Omit<Group, 'createdAt' | 'modifiedAt'> {
  createdAt: string | Date;
  modifiedAt: string | Date;
}

/** The columns of a group, from `scim_groups r`. */
export const groupColumns = `r.id, r.organization_id AS "organizationId",
  r.display_name AS "displayName", r.external_id AS "externalId", r.version,
  r.created_at AS "createdAt", r.modified_at AS "modifiedAt"`;

/** Converts a row to a group. */
export function groupOf(row: GroupRow): Group {
  return { ...row, createdAt: new Date(row.createdAt), modifiedAt: new Date(row.modifiedAt) };
}

/** The Groups of an organization. */
export const groupListing: Listing<GroupRow, Group> = {
  names: groupNames,
  table: 'scim_groups',
  columns: groupColumns,
  read: groupOf,
  visible: 'true',
  places: {
    id: { from: 'scim_groups', by: 'id', row: 'id', ...ofIds },
    displayName: { from: 'scim_groups', by: 'display_name_canonical', row: 'id', stored: fold },
    externalId: { from: 'scim_groups', by: 'external_id', row: 'id' },
    member: { from: 'scim_group_members', by: 'record_id', row: 'group_id', ...ofIds },
  },
};

/** The organization's group with this id; 404 if there is none. `hold` locks the group. */
export async function requireGroup(
  organizationId: string,
  id: string,
  { hold = false } = {},
): Promise<Group> {
  const lock = hold && dialectOfDatabase() === 'postgres' ? 'FOR UPDATE' : '';
  const rows = isUuid(id)
    ? await select<GroupRow>(
        `SELECT ${groupColumns} FROM scim_groups r
          WHERE r.id = $1 AND r.organization_id = $2 ${lock}`,
        [id.toLowerCase(), organizationId],
        { prepared: true },
      )
    : [];
  if (rows[0] !== undefined) return groupOf(rows[0]);
  throw scimRefusal(404, undefined, `There is no Group ${id.slice(0, 100)}.`);
}
