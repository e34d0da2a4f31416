import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** The method by which a person signed in. */
export type SignInMethod =
  | 'password'
  | 'sso'
  | 'ldap'
  | 'magicCode'
  | 'google'
  | 'github'
  | 'loginLink'
  | 'passkey'
  /** The code that verified the address of a new account. */
  | 'verification';

/** A sign-in of a browser or another program. Its refresh tokens are one family (security P4). */
export class Session extends Row<Session> {
  declare id: string;
  declare accountId: string;
  declare method: SignInMethod;
  /** The connection used for the sign-in, if any. */
  declare connectionId: string | null;
  /** The organization of the connection. */
  declare organizationId: string | null;
  declare address: string | null;
  declare userAgent: string | null;
  declare createdAt: Date;
  declare lastSeenAt: Date;
  /**
   * When the session passed the account's own second factor, checked by idctl. Null if it did not
   * (security P15).
   */
  declare secondFactorAt: CreationOptional<Date | null>;
  /**
   * If only an organization's provider authenticated the person when the second factor was set up
   * that this session passed, that organization; else null (security P12).
   */
  declare vouchedBy: CreationOptional<string | null>;
  /** When the person last confirmed with the password who they are (security P16). */
  declare confirmedAt: CreationOptional<Date | null>;
  /** The time when the session ends at the latest, 30 days after the sign-in. */
  declare expiresAt: Date;
  declare endedAt: CreationOptional<Date | null>;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initSession(sequelize: Sequelize): void {
  Session.init(
    {
      id: column.key(),
      accountId: column.to('accounts'),
      method: column.string(),
      connectionId: column.optional(column.uuid()),
      organizationId: column.optional(column.to('organizations', 'SET NULL')),
      address: column.optional(column.string()),
      userAgent: column.optional(column.string()),
      createdAt: column.date(),
      lastSeenAt: column.date(),
      expiresAt: column.date(),
      secondFactorAt: column.optional(column.date()),
      vouchedBy: column.optional(column.uuid()),
      confirmedAt: column.optional(column.date()),
      endedAt: column.optional(column.date()),
    },
    table(sequelize, 'sessions', [
      column.index('sessions_account_id', ['account_id']),
      column.index('sessions_expires_at', ['expires_at']),
    ]),
  );
}
