import { DataTypes, type NonAttribute, type Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * How the record relates to its account. `created`: SCIM created the account. `attached`: the
 * account existed before. `member`: the person was a member, and the client has not written the
 * record yet. `adopted`: the client has since written it.
 */
export type RecordLink = 'created' | 'attached' | 'member' | 'adopted';

/**
 * A person of an organization as its SCIM client sees them. SCIM reaches the account only through
 * this record's key (organization, record) (security I1). The record survives the membership, and
 * `active` follows the membership.
 */
export class ScimRecord extends Row<ScimRecord> {
  declare id: string;
  declare organizationId: string;
  declare accountId: string;
  declare link: RecordLink;
  declare userName: string;
  declare userNameCanonical: string;
  declare externalId: string | null;
  declare active: boolean;
  /** Whether the client deleted it under `scim.deleteMode: remove`. */
  declare hidden: boolean;
  /** The resource that the client wrote, as JSON. */
  declare resource: string;
  /** The same resource, in a form for filters. */
  declare search: object;
  declare version: number;
  declare createdAt: Date;
  declare modifiedAt: Date;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initScimRecord(sequelize: Sequelize): void {
  ScimRecord.init(
    {
      id: column.key(),
      organizationId: column.to('organizations'),
      accountId: column.to('accounts'),
      link: column.string(),
      userName: column.string(),
      userNameCanonical: column.string(),
      externalId: column.optional(column.string()),
      active: column.flag(),
      hidden: column.flag(),
      resource: column.string(),
      search: { type: DataTypes.JSONB, allowNull: false },
      version: column.integer(),
      createdAt: column.date(),
      modifiedAt: column.date(),
    },
    table(sequelize, 'scim_records', [
      column.unique('scim_records_account', ['account_id', 'organization_id']),
      column.unique('scim_records_user_name', ['organization_id', 'user_name_canonical']),
      column.index('scim_records_external_id', ['organization_id', 'external_id']),
      column.index('scim_records_order', ['organization_id', 'hidden', 'created_at', 'id']),
    ]),
  );
}

/** An address in the `emails` of a SCIM record, for lookups. */
export class ScimEmail extends Row<ScimEmail> {
  declare recordId: string;
  declare valueCanonical: string;
  declare organizationId: string;
}

/** Binds the model to the open database. */
export function initScimEmail(sequelize: Sequelize): void {
  ScimEmail.init(
    {
      recordId: column.key(column.to('scim_records')),
      valueCanonical: column.key(column.string()),
      organizationId: column.uuid(),
    },
    table(sequelize, 'scim_emails', [
      column.index('scim_emails_value', ['organization_id', 'value_canonical']),
    ]),
  );
}

/**
 * Counts how often a record before the end of the organization's list was hidden or shown again. A
 * remembered list position is valid only for the same count.
 */
class ScimShift extends Row<ScimShift> {
  declare organizationId: string;
  declare count: number;
}

/** Binds the model to the open database. */
export function initScimShift(sequelize: Sequelize): void {
  ScimShift.init(
    {
      organizationId: column.key(column.to('organizations')),
      count: column.integer(),
    },
    table(sequelize, 'scim_shifts'),
  );
}
