import type { Context } from '../../../context.ts';
import { execute, select } from '../../../database/select.ts';
import { assertNoTransaction, transaction, unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { countUp, epochSeconds } from './count.ts';
import { keyOf, type Limit } from './limit.ts';

// How a credential is checked (security P8): `requireRoom` at the beginning, `spend` right before the
// check, `giveBack` when it was not refused. What was spent is committed before anything is checked, so
// that parallel guesses, over however many processes, cannot pass together.

const fullWindow = `SELECT began_at + seconds - $2 AS seconds FROM counters
  WHERE key = $1 AND began_at + seconds > $2 AND used >= $3`;
const decrement = 'UPDATE counters SET used = used - 1 WHERE used > 0 AND key IN';

/** Counts one attempt under each of the limits, for good until it is given back; refuses `too_many_requests`. */
export async function spend(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off') return;
  assertNoTransaction('counting an attempt');
  // A power cut may give a guess back: not worth a wait for the disk at each one.
  await unsynced(async () => {
    for (const limit of limits) {
      if ((await countUp(ctx, limit)) === null) throw tooMany(await secondsUntilRoom(ctx, [limit]));
    }
  });
}

/**
 * Counts one of what is limited, inside the transaction that this lets through; answers how many there are in the
 * window, or refuses `too_many_requests`.
 */
export async function requirePlace(ctx: Context, limit: Limit, message: string): Promise<number> {
  if (ctx.config.limits.enabled === 'off') return 1;
  const counted = await countUp(ctx, limit);
  if (counted === null) throw tooMany(await secondsUntilRoom(ctx, [limit]), message);
  return counted.used;
}

/** Takes back what an attempt spent that was not refused. */
export async function giveBack(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off' || limits.length === 0) return;
  const keys = limits.map((limit) => keyOf(ctx, limit));
  const places = keys.map((_, at) => `$${at + 1}`).join(', ');
  await transaction(() => execute(`${decrement} (${places})`, keys));
}

/** As `giveBack` for one limit; answers whether nothing of it is spent now. Call it inside a transaction. */
export async function giveBackLast(ctx: Context, limit: Limit): Promise<boolean> {
  const [row] = await select<{ used: number }>(`${decrement} ($1) RETURNING used`, [
    keyOf(ctx, limit),
  ]);
  return row?.used === 0;
}

/** Refuses `too_many_requests` while one of the limits is used up; a look only, which a locked account is not worth more than. */
export async function requireRoom(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off') return;
  const seconds = await secondsUntilRoom(ctx, limits);
  if (seconds > 0) throw tooMany(seconds);
}

/** How long it takes until none of the limits is used up; 0 when none is. */
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

/** The same words for every limit of attempts, whether or not there is such an account (security P8). */
function tooMany(seconds: number, message = 'Too many attempts.'): Refusal {
  return new Refusal('too_many_requests', message, {
    hint: `Try again in ${inWords(seconds)}.`,
    retryAfter: Math.max(1, Math.ceil(seconds)),
  });
}

/** A wait as people say it: never shorter than it is. */
export function inWords(seconds: number): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const [count, unit] = minutes < 120 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
