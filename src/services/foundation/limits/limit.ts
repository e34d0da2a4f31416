import { createHmac } from 'node:crypto';
import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { Counter } from '../../../database/models/counter.ts';
import { assertNoTransaction, transaction, unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import {
  type Counted,
  countInWindow,
  readSecondsLeft,
  readUsed,
  takeBack,
  takeBackOne,
} from './counters.sql.ts';

/** A limit: what is counted, for which subject, and how much a window of time allows. */
export interface Limit {
  name: string;
  /** The subject, such as an account's canonical address or id, or a client's network. */
  of: string;
  /** A detail. Each value has its own count. */
  apart?: string;
  max: number;
  /** How much one call counts; 1 if absent. If set, `longest` and `giveBack` must not be used. */
  weight?: number;
  seconds: number;
  /** A window after a full one lasts twice as long, up to this. By default, all last `seconds`. */
  longest?: number;
}

/** The key of a limit's counter: a keyed hash, so that the table does not name a person. */
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

/** Counts a call in the current window; null if it is full. Call it inside a transaction. */
export async function countUp(ctx: Context, limit: Limit): Promise<Counted | null> {
  const { of, max, weight = 1, seconds, longest = seconds } = limit;
  const now = epochSeconds(ctx.now);
  return countInWindow({
    key: keyOf(ctx, limit),
    subject: subjectOf(ctx, of),
    // Ordered, because the id of a window may become the id of an event.
    windowId: orderedId(),
    seconds,
    now,
    expiresAt: now + 2 * longest,
    max,
    longest,
    weight,
  });
}

/** An instant as the counters store it: seconds since 1970. */
export function epochSeconds(instant: Date): number {
  return instant.getTime() / 1000;
}

// To check a credential (security P8), call `requireRoom` first, `spend` right before the check,
// and `giveBack` unless the credential was refused. The count is committed before the check, so
// parallel guesses cannot exceed the limit, in any number of processes.

/** Counts one attempt in each limit. Refuses with `too_many_requests` if a limit is full. */
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

/**
 * Counts a call in the caller's transaction; returns the count. Refuses with `too_many_requests`.
 */
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
  await transaction(() => takeBack(keys));
}

/** Like `giveBack` for one limit, inside a transaction. Returns whether the count is zero now. */
export async function giveBackLast(ctx: Context, limit: Limit): Promise<boolean> {
  return (await takeBackOne(keyOf(ctx, limit))) === 0;
}

/**
 * Refuses with `too_many_requests` while a limit is full. Writes nothing, even for a locked
 * account.
 */
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
  const counts = limits.map((limit) => {
    return { key: keyOf(ctx, limit), above: limit.max - (limit.weight ?? 1) };
  });
  return Math.max(0, (await readSecondsLeft(epochSeconds(ctx.now), counts)) ?? 0);
}

/** Reads the current count of the limit, and until when it is full; null if it is not full. */
export async function readCount(ctx: Context, limit: Limit) {
  const used = await readUsed(keyOf(ctx, limit), epochSeconds(ctx.now));
  const seconds = await secondsUntilRoom(ctx, [limit]);
  const until = seconds > 0 ? new Date(ctx.now.getTime() + seconds * 1000) : null;
  return { used, until };
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
