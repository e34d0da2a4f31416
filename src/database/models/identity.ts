import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * An external identity linked to an account, with the key (connection, issuer, subject) (security
 * I1). It survives its connection, as a former key of the organization.
 */
export class Identity extends Row<Identity> {
  declare id: string;
  declare accountId: string;
  declare kind: 'sso' | 'ldap' | 'social';
  /** The SSO or LDAP connection, or the name of the social provider. */
  declare connectionId: string;
  /** The organization of the connection; null for social sign-in. */
  declare organizationId: string | null;
  declare issuer: string;
  declare subject: string;
  /**
   * The host of the directory that the key comes from. Null for single sign-on and social sign-in,
   * which have an issuer instead.
   */
  declare server: CreationOptional<string | null>;
  declare linkedAt: Date;
  /** The groups sent at the last sign-in; null if they were unknown. */
  declare lastGroups: CreationOptional<string[] | null>;
  /** The groups that were last known and applied. Later plans use them. */
  declare knownGroups: CreationOptional<string[] | null>;
  /** When groups were last synced; null before the first sign-in completed. */
  declare groupsSyncedAt: CreationOptional<Date | null>;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initIdentity(sequelize: Sequelize): void {
  Identity.init(
    {
      id: column.key(),
      accountId: column.to('accounts'),
      kind: column.string(),
      connectionId: column.string(),
      organizationId: column.optional(column.to('organizations')),
      issuer: column.string(),
      subject: column.string(),
      server: column.optional(column.string()),
      linkedAt: column.date(),
      lastGroups: column.optional(column.json()),
      groupsSyncedAt: column.optional(column.date()),
      knownGroups: column.optional(column.json()),
    },
    table(sequelize, 'identities', [
      column.unique('identities_key', ['connection_id', 'issuer', 'subject']),
      column.unique('identities_connection_account', ['connection_id', 'account_id']),
      column.index('identities_account_id', ['account_id']),
      column.index('identities_organization_subject', ['organization_id', 'subject']),
    ]),
  );
}
