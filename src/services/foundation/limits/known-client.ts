import { randomUUIDv7 } from 'node:crypto';
import { networkOf } from '../../../address.ts';
import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { epochSeconds } from './count.ts';
import { keyOf, subjectOf } from './limit.ts';

// The row counts nothing. It records that an account has signed in from a network; its subject
// names the network.

const day = 86_400;
const recent = 30 * day;

const find = 'SELECT subject FROM counters WHERE key = $1 AND expires_at > $2';
// A row from today stays unchanged, so that sign-ins from one network do not wait for each other.
const remember = `INSERT INTO counters (key, subject, window_id, used, seconds, began_at, expires_at)
  SELECT $1, $2, $3, 0, 0, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM counters WHERE key = $1 AND expires_at > $6)
  ON CONFLICT (key) DO UPDATE SET subject = excluded.subject, expires_at = excluded.expires_at RETURNING key`;

/**
 * The known client that asks, or null. Strangers cannot take its turn at hashing (security P8). A
 * network is known for 30 days after a sign-in from it. The account that signed in stands for it,
 * so one account is one client from every network. The address being signed in with plays no part,
 * so a turn does not reveal which accounts exist.
 */
export async function knownClient(ctx: Context): Promise<string | null> {
  if (ctx.client.address === null) return null;
  const [known] = await select<{ subject: string }>(
    find,
    [keyOf(ctx, here(ctx)), epochSeconds(ctx.now)],
    {
      prepared: true,
    },
  );
  return known?.subject ?? null;
}

/**
 * Remembers that this account has signed in from here. Call it inside the sign-in's transaction.
 */
export async function rememberNetwork(ctx: Context, email: string): Promise<void> {
  const now = epochSeconds(ctx.now);
  const whose = subjectOf(ctx, `client ${email}`);
  const times = [now, now + recent, now + recent - day];
  await select(remember, [keyOf(ctx, here(ctx)), whose, randomUUIDv7(), ...times]);
}

function here(ctx: Context) {
  return { name: 'known client', of: networkOf(ctx.client.address) };
}
