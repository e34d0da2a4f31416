import type { CreationOptional, NonAttribute, Sequelize } from 'sequelize';
import type { Account } from './account.ts';
import {
  index,
  instantColumn,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  uuid,
} from './columns.ts';

/** The method by which a person signed in. */
export type SignInMethod =
  | 'password'
  | 'sso'
  | 'ldap'
  | 'magicCode'
  | 'google'
  | 'github'
  | 'loginLink'
  /** The code that confirmed the address of a new account. */
  | 'verification';

/** A signed-in browser or client; its refresh tokens are one family (security P4). */
export class Session extends Row<Session> {
  declare id: string;
  declare accountId: string;
  declare method: SignInMethod;
  /** The connection of the sign-in, if any. */
  declare connectionId: string | null;
  /** The organization of that connection. */
  declare organizationId: string | null;
  declare address: string | null;
  declare userAgent: string | null;
  declare createdAt: Date;
  declare lastSeenAt: Date;
  /**
   * When the session passed the account's own second factor, checked by idctl; else null (security
   * P15).
   */
  declare secondFactorAt: CreationOptional<Date | null>;
  /** The absolute end, 30 days after the sign-in. */
  declare expiresAt: Date;
  declare endedAt: CreationOptional<Date | null>;
  /** Present only if the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initSession(sequelize: Sequelize): void {
  Session.init(
    {
      id: key(),
      accountId: to('accounts'),
      method: textColumn(),
      connectionId: optional(uuid()),
      organizationId: optional(to('organizations', 'SET NULL')),
      address: optional(textColumn()),
      userAgent: optional(textColumn()),
      createdAt: instantColumn(),
      lastSeenAt: instantColumn(),
      expiresAt: instantColumn(),
      secondFactorAt: optional(instantColumn()),
      endedAt: optional(instantColumn()),
    },
    table(sequelize, 'sessions', [
      index('sessions_account_id', ['account_id']),
      index('sessions_expires_at', ['expires_at']),
    ]),
  );
}
