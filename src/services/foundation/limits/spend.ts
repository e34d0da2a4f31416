import type { Context } from '../../../context.ts';
import { execute, select } from '../../../database/select.ts';
import { assertNoTransaction, transaction, unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { countUp, epochSeconds, lasts } from './count.ts';
import { keyOf, type Limit } from './limit.ts';

// How a credential is checked (security P8): `requireRoom` first, `spend` right before the check,
// `giveBack` unless it was refused. The spent count is committed before the check, so parallel
// guesses cannot pass together, over any number of processes.

const fullWindow = `SELECT began_at + seconds - $2 AS seconds FROM counters
  WHERE key = $1 AND ${lasts('$2')} AND used >= $3`;
const decrement = 'UPDATE counters SET used = used - 1 WHERE used > 0 AND key IN';

/** Counts one attempt under each of the limits, until given back. Refuses `too_many_requests`. */
export async function spend(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off') return;
  assertNoTransaction('counting an attempt');
  // A power cut may undo the count: one guess is not worth waiting for the disk each time.
  await unsynced(async () => {
    for (const limit of limits) {
      if ((await countUp(ctx, limit)) === null) throw tooMany(await secondsUntilRoom(ctx, [limit]));
    }
  });
}

/**
 * Counts one inside the transaction that it allows. Returns the count in the window, or refuses
 * `too_many_requests`.
 */
export async function requirePlace(ctx: Context, limit: Limit, message: string): Promise<number> {
  if (ctx.config.limits.enabled === 'off') return 1;
  const counted = await countUp(ctx, limit);
  if (counted === null) throw tooMany(await secondsUntilRoom(ctx, [limit]), message);
  return counted.used;
}

/** Gives back the count of an attempt that was not refused. */
export async function giveBack(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off' || limits.length === 0) return;
  const keys = limits.map((limit) => keyOf(ctx, limit));
  const places = keys.map((_, at) => `$${at + 1}`).join(', ');
  await transaction(() => execute(`${decrement} (${places})`, keys));
}

/**
 * Like `giveBack` for one limit. Returns whether the count is zero now. Call it inside a
 * transaction.
 */
export async function giveBackLast(ctx: Context, limit: Limit): Promise<boolean> {
  const [row] = await select<{ used: number }>(`${decrement} ($1) RETURNING used`, [
    keyOf(ctx, limit),
  ]);
  return row?.used === 0;
}

/**
 * Refuses `too_many_requests` while one of the limits is used up. Only a read: a locked account
 * causes no write.
 */
export async function requireRoom(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off') return;
  const seconds = await secondsUntilRoom(ctx, limits);
  if (seconds > 0) throw tooMany(seconds);
}

/** Seconds until every limit has room; 0 if all have. */
export async function secondsUntilRoom(ctx: Context, limits: Limit[]): Promise<number> {
  const now = epochSeconds(ctx.now);
  const waits: number[] = [];
  for (const limit of limits) {
    const [full] = await select<{ seconds: number }>(
      fullWindow,
      [keyOf(ctx, limit), now, limit.most],
      {
        prepared: true,
      },
    );
    if (full !== undefined) waits.push(full.seconds);
  }
  return Math.max(0, ...waits);
}

/** The same words for every limit of attempts, whether or not the account exists (security P8). */
function tooMany(seconds: number, message = 'Too many attempts.'): Refusal {
  return new Refusal('too_many_requests', message, {
    hint: `Try again in ${inWords(seconds)}.`,
    retryAfter: Math.max(1, Math.ceil(seconds)),
  });
}

/** A wait in plain words, rounded up. */
export function inWords(seconds: number): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const [count, unit] = minutes < 120 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
