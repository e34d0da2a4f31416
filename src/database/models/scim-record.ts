import { DataTypes } from 'sequelize';
import type { Account } from './account.ts';
import { column, rowOf } from './columns.ts';

/**
 * How the record got its account. `created`: SCIM created the account. `attached`: the account
 * existed. `member`: the person was a member, and the client has not written them yet. `adopted`:
 * it has.
 */
export type RecordLink = 'created' | 'attached' | 'member' | 'adopted';

/**
 * A person of an organization as its provisioning sees them. By the key (organization, record),
 * SCIM reaches an account (security I1). It outlives the membership; `active` follows the
 * membership.
 */
export class ScimRecord extends rowOf(
  'scim_records',
  {
    id: column.key(),
    organizationId: column.to('organizations'),
    accountId: column.to('accounts'),
    link: column.string<RecordLink>(),
    userName: column.string(),
    userNameCanonical: column.string(),
    externalId: column.optional(column.string()),
    active: column.flag(),
    /** Deleted under `scim.deleteMode: remove`. */
    hidden: column.flag(),
    /** The resource that the client wrote, as JSON. */
    resource: column.string(),
    /** The same resource, prepared for filters. */
    search: { type: DataTypes.JSONB, allowNull: false },
    version: column.integer(),
    createdAt: column.date(),
    modifiedAt: column.date(),
  },
  () => [
    column.unique('scim_records_account', ['account_id', 'organization_id']),
    column.unique('scim_records_user_name', ['organization_id', 'user_name_canonical']),
    column.index('scim_records_external_id', ['organization_id', 'external_id']),
    column.index('scim_records_order', ['organization_id', 'hidden', 'created_at', 'id']),
  ],
) {
  /** Present only if the query included it. */
  declare account: Account;
}

/** An address in the `emails` of a SCIM record, stored for lookups. */
export class ScimEmail extends rowOf(
  'scim_emails',
  {
    recordId: column.key(column.to('scim_records')),
    valueCanonical: column.key(column.string()),
    organizationId: column.uuid(),
  },
  () => [column.index('scim_emails_value', ['organization_id', 'value_canonical'])],
) {}

/**
 * Counts how often a record left the middle of an organization's list, or returned to it. A cached
 * list position is valid for one count.
 */
export class ScimShift extends rowOf('scim_shifts', {
  organizationId: column.key(column.to('organizations')),
  count: column.integer(),
}) {}
