import { DataTypes } from 'sequelize';
import type { Account } from './account.ts';
import { column, rowOf } from './columns.ts';

/**
 * How the record relates to its account. `created`: SCIM created the account. `attached`: the
 * account existed before. `member`: the person was a member, and the client has not written the
 * record yet. `adopted`: the client has since written it.
 */
export type RecordLink = 'created' | 'attached' | 'member' | 'adopted';

/**
 * A person of an organization as its SCIM client sees them. SCIM reaches the account only through
 * this record's key (organization, record) (security I1). The record stays when the membership
 * ends. `active` says whether the membership exists.
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
    /** Whether the client deleted it under `scim.deleteMode: remove`. */
    hidden: column.flag(),
    /** The resource as JSON: from the client, or from the account if `link` is `member`. */
    resource: column.string(),
    /** The same resource, in a form for filters. */
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

/** An address in the `emails` of a SCIM record, for lookups. */
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
 * Counts how often a record of the organization's list was hidden, shown again or deleted. A
 * remembered list position is valid only for the same count.
 */
export class ScimShift extends rowOf('scim_shifts', {
  organizationId: column.key(column.to('organizations')),
  count: column.integer(),
}) {}
