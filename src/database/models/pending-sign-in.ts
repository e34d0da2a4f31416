import { column, rowOf } from './columns.ts';

/**
 * A sign-in by redirect that waits for the second factor. The holder of the token may continue it.
 */
export class PendingSignIn extends rowOf(
  'pending_sign_ins',
  {
    /** The SHA-256 of the token in the cookie. */
    id: column.key(column.string()),
    accountId: column.to('accounts'),
    /** The state with which the sign-in continues. */
    payload: column.json(),
    expiresAt: column.date(),
  },
  () => [
    column.index('pending_sign_ins_expires_at', ['expires_at']),
    column.index('pending_sign_ins_account_id', ['account_id']),
  ],
) {}
