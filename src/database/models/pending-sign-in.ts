import { column, rowOf } from './columns.ts';

/** A sign-in that waits for the second factor. Anyone who has the token can continue it. */
export class PendingSignIn extends rowOf(
  'pending_sign_ins',
  {
    /** SHA-256 of the token in the cookie. */
    id: column.key(column.string()),
    accountId: column.to('accounts'),
    /** The state needed to continue the sign-in. */
    payload: column.json(),
    expiresAt: column.date(),
  },
  () => [
    column.index('pending_sign_ins_expires_at', ['expires_at']),
    column.index('pending_sign_ins_account_id', ['account_id']),
  ],
) {}
