import type { Attributes } from 'sequelize';
import { hold } from '../../../../database/hold.ts';
import type { ScimGroup } from '../../../../database/models/scim-group.ts';
import { select } from '../../../../database/select.ts';
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

const finding = `SELECT ${groupColumns} FROM scim_groups r
  WHERE r.id = $1 AND r.organization_id = $2`;

/** The organization's group with this id; 404 if there is none. */
export function requireGroup(organizationId: string, id: string): Promise<Group> {
  return requireFound(id, () =>
    select<GroupRow>(finding, [id.toLowerCase(), organizationId], { prepared: true }),
  );
}

/** Like `requireGroup`, and holds the group for a change, and the mappings beside other pushes. */
export async function holdGroup(organizationId: string, id: string): Promise<Group> {
  await hold.mappings(organizationId, 'beside');
  return requireFound(id, () =>
    hold.rows<GroupRow>([finding, [id.toLowerCase(), organizationId], { prepared: true }], {
      kind: 'scimGroup',
      how: 'whole',
      id: (row) => row.id,
    }),
  );
}

async function requireFound(id: string, find: () => Promise<GroupRow[]>): Promise<Group> {
  const [row] = isUuid(id) ? await find() : [];
  if (row !== undefined) return groupOf(row);
  throw scimRefusal(404, undefined, `There is no Group ${id.slice(0, 100)}.`);
}
