import { DataTypes, type NonAttribute, type Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import {
  flag,
  index,
  instantColumn,
  integer,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  unique,
  uuid,
} from './columns.ts';

/**
 * How the record came to its account: it made it (`created`), it took in one that existed (`attached`), or the person
 * was a member before the client spoke of them, and has not been spoken of yet (`member`) or has (`adopted`).
 */
export type RecordLink = 'created' | 'attached' | 'member' | 'adopted';

/**
 * A person of an organization as its provisioning sees them: the key (organization, record) by which SCIM reaches an
 * account (security I1). It outlives the membership, which `active` follows.
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
  /** Deleted under `scim.deleteMode: remove`. */
  declare hidden: boolean;
  /** What the client wrote, as JSON. */
  declare resource: string;
  /** The same, made for filters. */
  declare search: object;
  declare version: number;
  declare createdAt: Date;
  declare modifiedAt: Date;
  /** There when the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initScimRecord(sequelize: Sequelize): void {
  ScimRecord.init(
    {
      id: key(),
      organizationId: to('organizations'),
      accountId: to('accounts'),
      link: textColumn(),
      userName: textColumn(),
      userNameCanonical: textColumn(),
      externalId: optional(textColumn()),
      active: flag(),
      hidden: flag(),
      resource: textColumn(),
      search: { type: DataTypes.JSONB, allowNull: false },
      version: integer(),
      createdAt: instantColumn(),
      modifiedAt: instantColumn(),
    },
    table(sequelize, 'scim_records', [
      unique('scim_records_account', ['account_id', 'organization_id']),
      unique('scim_records_user_name', ['organization_id', 'user_name_canonical']),
      index('scim_records_external_id', ['organization_id', 'external_id']),
      index('scim_records_order', ['organization_id', 'hidden', 'created_at', 'id']),
    ]),
  );
}

/** An address in the `emails` of a SCIM record, so that it can be looked up. */
export class ScimEmail extends Row<ScimEmail> {
  declare recordId: string;
  declare valueCanonical: string;
  declare organizationId: string;
}

/** Binds the model to the open database. */
export function initScimEmail(sequelize: Sequelize): void {
  ScimEmail.init(
    {
      recordId: key(to('scim_records')),
      valueCanonical: key(textColumn()),
      organizationId: uuid(),
    },
    table(sequelize, 'scim_emails', [
      index('scim_emails_value', ['organization_id', 'value_canonical']),
    ]),
  );
}

/**
 * How often a record has gone from the midst of an organization's list, or come back into it: whoever remembers places
 * in the list remembers this number with them.
 */
class ScimShift extends Row<ScimShift> {
  declare organizationId: string;
  declare count: number;
}

/** Binds the model to the open database. */
export function initScimShift(sequelize: Sequelize): void {
  ScimShift.init(
    {
      organizationId: key(to('organizations')),
      count: integer(),
    },
    table(sequelize, 'scim_shifts'),
  );
}
