import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A one-time sign-in link from the operator. An account has at most one. */
export class LoginLink extends Row<LoginLink> {
  /** SHA-256 of the token in the link. */
  declare id: string;
  declare accountId: string;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initLoginLink(sequelize: Sequelize): void {
  LoginLink.init(
    {
      id: column.key(column.string()),
      accountId: column.to('accounts'),
      expiresAt: column.date(),
    },
    table(sequelize, 'login_links', [
      column.unique('login_links_account_id', ['account_id']),
      column.index('login_links_expires_at', ['expires_at']),
    ]),
  );
}
