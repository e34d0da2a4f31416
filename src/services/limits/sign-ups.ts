import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { select } from '../../database/select.ts';
import { unconfirmedSeconds } from '../codes/ticket.ts';
import { epochSeconds } from './count.ts';
import { keyOf, subjectOf } from './limit.ts';

// Counted as it is asked, of every address alike: a sign-up may come to nothing, or late, and nobody who asks may learn
// from the work whether there is an account (security P7). The row lasts a week from the last one.

const add = `INSERT
  INTO counters AS c (key, subject, window_id, used, seconds, began_at, expires_at) VALUES ($1, $2, $3, 1, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET used = c.used + 1, expires_at = excluded.expires_at RETURNING used`;
const only = 'SELECT used FROM counters WHERE key = $1 AND used = 1 AND began_at <= $2';

/** Counts that somebody asked to sign up with this address; call it inside a transaction. */
export async function countSignUp(ctx: Context, email: string): Promise<void> {
  const now = epochSeconds(ctx.now);
  const window = [randomUUIDv7(), unconfirmedSeconds, now, now + unconfirmedSeconds];
  await select(add, [keyOf(ctx, signUpsOf(email)), subjectOf(ctx, signUpsOf(email).of), ...window]);
}

/** Whether the account is from the one sign-up that anybody asked for with its address: nobody else's password can be in it. */
export async function isOnlySignUp(
  ctx: Context,
  { email, createdAt }: Pick<Account, 'email' | 'createdAt'>,
): Promise<boolean> {
  const bind = [keyOf(ctx, signUpsOf(email ?? '')), epochSeconds(createdAt)];
  return (await select(only, bind)).length > 0;
}

/** Apart from what is limited of the address: an operator who ends those limits does not end this count. */
function signUpsOf(email: string) {
  return { name: 'signups', of: `signups ${email}` };
}
