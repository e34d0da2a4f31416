import type { Sequelize } from 'sequelize';
import { index, instantColumn, key, Row, table, textColumn, to, unique } from './columns.ts';

/** A one-time sign-in link that the operator made. An account has at most one. */
export class LoginLink extends Row<LoginLink> {
  /** The SHA-256 of the token in the link. */
  declare id: string;
  declare accountId: string;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initLoginLink(sequelize: Sequelize): void {
  LoginLink.init(
    {
      id: key(textColumn()),
      accountId: to('accounts'),
      expiresAt: instantColumn(),
    },
    table(sequelize, 'login_links', [
      unique('login_links_account_id', ['account_id']),
      index('login_links_expires_at', ['expires_at']),
    ]),
  );
}
