import { column, rowOf } from './columns.ts';

/** A group that the organization's SCIM client pushed. */
export class ScimGroup extends rowOf(
  'scim_groups',
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
  () => [
    column.unique('scim_groups_display_name', ['organization_id', 'display_name_canonical']),
    column.index('scim_groups_external_id', ['organization_id', 'external_id']),
    column.index('scim_groups_order', ['organization_id', 'created_at', 'id']),
  ],
) {}

/** A User in a group, with the display name that the client sent, if any. */
export class ScimGroupMember extends rowOf(
  'scim_group_members',
  {
    groupId: column.key(column.to('scim_groups')),
    recordId: column.key(column.to('scim_records')),
    organizationId: column.uuid(),
    display: column.optional(column.string()),
  },
  () => [column.index('scim_group_members_record_id', ['record_id'])],
) {}

/** A person whose roles a job must plan again, because groups, mappings or the person changed. */
export class ScimReplan extends rowOf(
  'scim_replans',
  {
    organizationId: column.key(column.to('organizations')),
    accountId: column.key(column.to('accounts')),
  },
  () => [column.index('scim_replans_account_id', ['account_id'])],
) {}
