import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * A sign-in by redirect that waits for the second factor. Whoever has the token can continue it.
 */
export class PendingSignIn extends Row<PendingSignIn> {
  /** SHA-256 of the token in the cookie. */
  declare id: string;
  declare accountId: string;
  /** The state needed to continue the sign-in. */
  declare payload: unknown;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initPendingSignIn(sequelize: Sequelize): void {
  PendingSignIn.init(
    {
      id: column.key(column.string()),
      accountId: column.to('accounts'),
      payload: column.json(),
      expiresAt: column.date(),
    },
    table(sequelize, 'pending_sign_ins', [
      column.index('pending_sign_ins_expires_at', ['expires_at']),
      column.index('pending_sign_ins_account_id', ['account_id']),
    ]),
  );
}
