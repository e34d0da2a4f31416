import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { epochSeconds } from './count.ts';
import { rememberNetwork } from './known-client.ts';
import { keyOf, type Limit, subjectOf } from './limit.ts';
import { mailboxOf } from './mailbox.ts';
import { networkOf } from './network.ts';

// The row counts nothing: its existence says that the person is known.
const remember = `INSERT INTO counters (key, subject, window_id, used, seconds, began_at, expires_at) VALUES ($1, $2, $3, 0, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET subject = excluded.subject, expires_at = excluded.expires_at RETURNING key`;

const day = 86_400;
const recent = 30 * day;

/**
 * The cost of trying a password: one try of the account and one of the client. Networks where this
 * person has signed in lately have separate tries, which strangers' failures do not use up
 * (security P8).
 */
export async function passwordLimits(ctx: Context, email: string): Promise<Limit[]> {
  if (ctx.config.limits.enabled === 'off') return [];
  const own = ownLimit(ctx, email);
  const known = await select('SELECT used FROM counters WHERE key = $1', [keyOf(ctx, own)], {
    prepared: true,
  });
  return [known.length > 0 ? own : sharedPasswordLimit(ctx, email), clientLimit(ctx)];
}

/**
 * Remembers for 30 days that the person has signed in from here. Call it inside the sign-in's
 * transaction.
 */
export async function rememberClient(ctx: Context, email: string): Promise<void> {
  await rememberNetwork(ctx, email);
  if (ctx.config.limits.enabled === 'off') return;
  const own = ownLimit(ctx, email);
  const now = epochSeconds(ctx.now);
  const window = [randomUUIDv7(), own.seconds, now, now + recent];
  // Found by the mailbox, so that `isStranger` knows the person under any tag.
  await select(remember, [keyOf(ctx, own), subjectOf(ctx, mailboxOf(email)), ...window]);
}

/** Whether the person of this mailbox has signed in lately, but not with this address from here. */
export async function isStranger(ctx: Context, email: string): Promise<boolean> {
  // Every other row about a person expires with its second window.
  const remembered = epochSeconds(ctx.now) + 2 * day;
  const rows = await select<{ key: string }>(
    'SELECT key FROM counters WHERE subject = $1 AND expires_at > $2',
    [subjectOf(ctx, mailboxOf(email)), remembered],
  );
  const here = keyOf(ctx, ownLimit(ctx, email));
  return rows.length > 0 && rows.every(({ key }) => key !== here);
}

function ownLimit(ctx: Context, email: string): Limit & { apart: string } {
  return { ...sharedPasswordLimit(ctx, email), apart: networkOf(ctx.client.address) };
}

/** The limit that all strangers together share for one account's password. */
export function sharedPasswordLimit({ config }: Pick<Context, 'config'>, email: string): Limit {
  const { accountFailures: most } = config.limits;
  return { name: 'password', of: email, most, seconds: 900, longest: day };
}

/** How many wrong second-factor codes an account may be sent (security P12). */
export function codeLimit(accountId: string): Limit {
  return { name: 'code', of: accountId, most: 5, seconds: 900 };
}

/** How many refusals one client may get in a minute. */
export function clientLimit(ctx: Context): Limit {
  const { addressFailures: most } = ctx.config.limits;
  return { name: 'failures', of: networkOf(ctx.client.address), most, seconds: 60 };
}
