import { createHmac } from 'node:crypto';
import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Counter } from '../../../database/models/counter.ts';
import { execute, select } from '../../../database/select.ts';
import { assertNoTransaction, transaction, unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';

/** A limit: what is counted, for which subject, and how much a window of time allows. */
export interface Limit {
  name: string;
  /** The subject, such as an account's canonical address or id, or a client's network. */
  of: string;
  /** Each value has its own count. */
  apart?: string;
  most: number;
  /** How much one call counts; 1 if absent. If set, `longest` and `giveBack` must not be used. */
  weight?: number;
  seconds: number;
  /** A window after a full one lasts twice as long, up to this. By default, all last `seconds`. */
  longest?: number;
}

/** The key of a limit's counter: a keyed hash, so that the table names no person. */
export function keyOf(
  ctx: Context,
  { name, of, apart = '' }: Pick<Limit, 'name' | 'of' | 'apart'>,
): string {
  return hash(ctx, [name, of, apart]);
}

/** The key to find all counters of one subject. */
export function subjectOf(ctx: Context, of: string): string {
  return hash(ctx, [of]);
}

function hash(ctx: Context, parts: string[]): string {
  return createHmac('sha256', ctx.keyring.derive('counters'))
    .update(JSON.stringify(parts))
    .digest('base64url');
}

interface Counted {
  id: string;
  used: number;
}

/**
 * The SQL condition for a window that has not ended. A window that begins more than a minute from
 * now counts as ended: the clock was set back, and a lockout would last too long. The clocks of two
 * daemons may differ by less.
 */
const lasts = (now: string, of = ''): string =>
  `(${of}began_at + ${of}seconds > ${now} AND ${of}began_at - 60 <= ${now})`;

// This is one conditional upsert, so that parallel counts, in any process, never exceed the limit.
// An ended window begins again. A full window returns no row.
const lasting = lasts('$5', 'c.');
const upsert = `INSERT INTO counters AS c (key, subject, window_id, used, seconds, began_at, expires_at)
  VALUES ($1, $2, $3, $9, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET
    window_id = CASE WHEN ${lasting} THEN c.window_id ELSE $3 END,
    used = CASE WHEN ${lasting} THEN c.used + $9 ELSE $9 END,
    seconds = CASE
      WHEN ${lasting} THEN c.seconds
      WHEN c.used < $7 OR c.began_at + 2 * c.seconds <= $5 THEN $4
      WHEN 2 * c.seconds < $8 THEN 2 * c.seconds
      ELSE $8 END,
    began_at = CASE WHEN ${lasting} THEN c.began_at ELSE $5 END,
    expires_at = CASE WHEN c.expires_at > $6 THEN c.expires_at ELSE $6 END
  WHERE c.used + $9 <= $7 OR NOT ${lasting}
  RETURNING window_id AS id, used`;

/** Counts a call in the current window; null if it is full. Call it inside a transaction. */
export async function countUp(ctx: Context, limit: Limit): Promise<Counted | null> {
  const { of, most, weight = 1, seconds, longest = seconds } = limit;
  const now = epochSeconds(ctx.now);
  const [counted] = await select<Counted>(
    upsert,
    [
      keyOf(ctx, limit),
      subjectOf(ctx, of),
      // Ordered, because the id of a window may become the id of an event.
      orderedId(),
      seconds,
      now,
      now + 2 * longest,
      most,
      longest,
      weight,
    ],
    { prepared: true },
  );
  return counted ?? null;
}

/** An instant as the counters store it: seconds since 1970. */
export function epochSeconds(instant: Date): number {
  return instant.getTime() / 1000;
}

// To check a credential (security P8), call `requireRoom` first, `spend` right before the check,
// and `giveBack` unless the credential was refused. The count is committed before the check, so
// parallel guesses cannot exceed the limit, in any number of processes.

const decrement = 'UPDATE counters SET used = used - 1 WHERE used > 0 AND key IN';

/** Counts one attempt in each limit. Refuses `too_many_requests` if a limit is full. */
export async function spend(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off') return;
  assertNoTransaction('counting an attempt');
  // A power cut may undo the count, but waiting for the disk would slow down every attempt.
  await unsynced(async () => {
    for (const limit of limits) {
      if ((await countUp(ctx, limit)) === null) throw tooMany(await secondsUntilRoom(ctx, [limit]));
    }
  });
}

/** Calls `requireRoom`, then `spend`. Use it if no slow work happens between the two. */
export async function countTry(ctx: Context, limits: Limit[]): Promise<void> {
  await requireRoom(ctx, limits);
  await spend(ctx, limits);
}

/** Counts a call in the caller's transaction; returns the count. Refuses `too_many_requests`. */
export async function requirePlace(ctx: Context, limit: Limit, message: string): Promise<number> {
  if (ctx.config.limits.enabled === 'off') return 1;
  const counted = await countUp(ctx, limit);
  if (counted === null) throw tooMany(await secondsUntilRoom(ctx, [limit]), message);
  return counted.used;
}

/** Takes back the counts of an attempt that was not refused. */
export async function giveBack(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off' || limits.length === 0) return;
  const keys = limits.map((limit) => keyOf(ctx, limit));
  const places = keys.map((_, at) => `$${at + 1}`).join(', ');
  await transaction(() => execute(`${decrement} (${places})`, keys, { prepared: true }));
}

/** Like `giveBack` for one limit, inside a transaction. Returns whether the count is zero now. */
export async function giveBackLast(ctx: Context, limit: Limit): Promise<boolean> {
  const [row] = await select<{ used: number }>(`${decrement} ($1) RETURNING used`, [
    keyOf(ctx, limit),
  ]);
  return row?.used === 0;
}

/** Refuses `too_many_requests` while a limit is full. Writes nothing, even for a locked account. */
export async function requireRoom(ctx: Context, limits: Limit[]): Promise<void> {
  if (ctx.config.limits.enabled === 'off') return;
  const seconds = await secondsUntilRoom(ctx, limits);
  if (seconds > 0) throw tooMany(seconds);
}

/**
 * Seconds until no limit is full; 0 if none is. Another request or daemon may have begun a window
 * after `ctx.now`: the wait is never longer than the window.
 */
export async function secondsUntilRoom(ctx: Context, limits: Limit[]): Promise<number> {
  if (limits.length === 0) return 0;
  const full = limits.map((_, at) => `(key = $${2 * at + 2} AND used > $${2 * at + 3})`);
  const [row] = await select<{ seconds: number | null }>(
    `SELECT max(CASE WHEN began_at > $1 THEN seconds ELSE began_at + seconds - $1 END) AS seconds
      FROM counters
      WHERE ${lasts('$1')} AND (${full.join(' OR ')})`,
    [
      epochSeconds(ctx.now),
      ...limits.flatMap((limit) => [keyOf(ctx, limit), limit.most - (limit.weight ?? 1)]),
    ],
    { prepared: true },
  );
  return Math.max(0, row?.seconds ?? 0);
}

const usedNow = `SELECT used FROM counters WHERE key = $1 AND ${lasts('$2')}`;

/** Reads the current count of the limit, and until when it is full; null if it is not full. */
export async function readCount(ctx: Context, limit: Limit) {
  const [row] = await select<{ used: number }>(usedNow, [keyOf(ctx, limit), epochSeconds(ctx.now)]);
  const seconds = await secondsUntilRoom(ctx, [limit]);
  const until = seconds > 0 ? new Date(ctx.now.getTime() + seconds * 1000) : null;
  return { used: row?.used ?? 0, until };
}

/** The refusal of a full limit. It does not show whether the account exists (security P8). */
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

/** Resets every count of these subjects (`Limit.of`). Returns whether any was above zero. */
export async function forgetCounts(ctx: Context, of: string[]): Promise<boolean> {
  const theirs = { subject: of.map((each) => subjectOf(ctx, each)), used: { [Op.gt]: 0 } };
  const [ended] = await Counter.update({ used: 0, beganAt: 0 }, { where: theirs });
  return ended > 0;
}

/** The mailbox of a canonical address, without a `+tag` (security P10). Use it only for limits. */
export function mailboxOf(email: string): string {
  return email.replace(/(?<=[^@])\+[^@]*(?=@)/, '');
}
