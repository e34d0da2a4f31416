import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import {
  index,
  instantColumn,
  json,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  unique,
} from './columns.ts';

/**
 * An outside key linked to an account: (connection, issuer, subject) (security I1). It outlives its
 * connection, as a former key of the organization.
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
   * The host of the directory that gave the key. Null for SSO and social sign-in, whose issuer
   * names it.
   */
  declare server: CreationOptional<string | null>;
  declare linkedAt: Date;
  /** The groups of the last sign-in; null if the provider sent none. */
  declare lastGroups: CreationOptional<string[] | null>;
  /** When groups were first synced; null before the first sign-in completed. */
  declare groupsSyncedAt: CreationOptional<Date | null>;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initIdentity(sequelize: Sequelize): void {
  Identity.init(
    {
      id: key(),
      accountId: to('accounts'),
      kind: textColumn(),
      connectionId: textColumn(),
      organizationId: optional(to('organizations')),
      issuer: textColumn(),
      subject: textColumn(),
      server: optional(textColumn()),
      linkedAt: instantColumn(),
      lastGroups: optional(json()),
      groupsSyncedAt: optional(instantColumn()),
    },
    table(sequelize, 'identities', [
      unique('identities_key', ['connection_id', 'issuer', 'subject']),
      unique('identities_connection_account', ['connection_id', 'account_id']),
      index('identities_account_id', ['account_id']),
      index('identities_organization_subject', ['organization_id', 'subject']),
    ]),
  );
}
