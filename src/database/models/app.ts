import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';
import type { Organization } from './organization.ts';

/**
 * An OAuth app: a confidential client that acts as its owner (spec §2.8). A revoked app has no row.
 */
export class OAuthApp extends Row<OAuthApp> {
  declare id: string;
  /** The account that owns the app. */
  declare accountId: string;
  /** The organization whose tokens the app may introspect (security O9). */
  declare organizationId: CreationOptional<string | null>;
  declare name: string;
  declare clientId: string;
  /** SHA-256 of the client secret, in hex. */
  declare secretHash: string;
  declare createdAt: Date;
  /** When the app was suspended, because it came from a backup. A new secret ends this. */
  declare suspendedAt: CreationOptional<Date | null>;
  /**
   * If only an organization's provider authenticated the session that made the secret, without a
   * second factor, that organization (security P12).
   */
  declare vouchedBy: CreationOptional<string | null>;
  declare account: NonAttribute<Account>;
  /** Present only if the query included it. Null if the app has none. */
  declare organization: NonAttribute<Organization | null | undefined>;
}

/** Binds the model to the open database. */
export function initOAuthApp(sequelize: Sequelize): void {
  OAuthApp.init(
    {
      id: column.key(),
      accountId: column.to('accounts'),
      organizationId: column.optional(column.to('organizations', 'SET NULL')),
      name: column.string(),
      clientId: column.string(),
      secretHash: column.string(),
      createdAt: column.date(),
      suspendedAt: column.optional(column.date()),
      vouchedBy: column.optional(column.uuid()),
    },
    table(sequelize, 'apps', [
      column.unique('apps_client_id', ['client_id']),
      column.unique('apps_secret_hash', ['secret_hash']),
      column.index('apps_account_id', ['account_id', 'id']),
      column.index('apps_organization_id', ['organization_id']),
    ]),
  );
}
