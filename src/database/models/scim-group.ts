import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A group that the organization's SCIM client pushed. */
export class ScimGroup extends Row<ScimGroup> {
  declare id: string;
  declare organizationId: string;
  declare displayName: string;
  declare displayNameCanonical: string;
  declare externalId: CreationOptional<string | null>;
  declare version: number;
  declare createdAt: Date;
  declare modifiedAt: Date;
}

/** Binds the model to the open database. */
export function initScimGroup(sequelize: Sequelize): void {
  ScimGroup.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      displayName: column.string(),
      displayNameCanonical: column.string(),
      externalId: column.optional(column.string()),
      version: column.integer(),
      createdAt: column.date(),
      modifiedAt: column.date(),
    },
    table(sequelize, 'scim_groups', [
      column.unique('scim_groups_display_name', ['organization_id', 'display_name_canonical']),
      column.index('scim_groups_external_id', ['organization_id', 'external_id']),
      column.index('scim_groups_order', ['organization_id', 'created_at', 'id']),
    ]),
  );
}

/** A User in a group, with the display name that the client sent, if any. */
class ScimGroupMember extends Row<ScimGroupMember> {
  declare groupId: string;
  declare recordId: string;
  declare organizationId: string;
  declare display: CreationOptional<string | null>;
}

/** Binds the model to the open database. */
export function initScimGroupMember(sequelize: Sequelize): void {
  ScimGroupMember.init(
    {
      groupId: column.key(column.to('scim_groups')),
      recordId: column.key(column.to('scim_records')),
      organizationId: column.uuid(),
      display: column.optional(column.string()),
    },
    table(sequelize, 'scim_group_members', [
      column.index('scim_group_members_record_id', ['record_id']),
    ]),
  );
}

/** A person whose groups have changed, until a job plans their roles again. */
class ScimReplan extends Row<ScimReplan> {
  declare organizationId: string;
  declare accountId: string;
}

/** Binds the model to the open database. */
export function initScimReplan(sequelize: Sequelize): void {
  ScimReplan.init(
    {
      organizationId: column.key(column.to('organizations')),
      accountId: column.key(column.to('accounts')),
    },
    table(sequelize, 'scim_replans', [column.index('scim_replans_account_id', ['account_id'])]),
  );
}
