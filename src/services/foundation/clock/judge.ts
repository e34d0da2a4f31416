import { after } from '../time.ts';

// Decides, without side effects, whether the clock can be trusted to decide what has expired. With
// a wrong clock, a sweep would delete every session and event.

/** A clock this far from the last sweep has jumped. */
export const farSeconds = 7 * 86_400;
/** How long a clock must run without a jump until the sweep uses it. */
export const steadySeconds = 86_400;

/** What is known about the last sweep. */
export interface Known {
  sweptAt: Date;
  /** When a clock far from `sweptAt` began to run without a jump. */
  heldAt: Date | null;
  /** When that clock was last seen. */
  seenAt: Date | null;
  /** The first and last events of each day since `sweptAt`, in order. */
  days: { first: Date; last: Date }[];
}

/**
 * Null if the sweep may use this clock. Otherwise the time since which the clock has run without
 * another jump. A clock has jumped if it is more than seven days before or after the newest instant
 * known to be true.
 */
export function judgeClock(known: Known, now: Date): { heldAt: Date } | null {
  if (!isFar(newestKnown(known), now)) return null;
  const { heldAt, seenAt } = known;
  const since = heldAt !== null && seenAt !== null && !isFar(seenAt, now) ? heldAt : now;
  return after(since, steadySeconds) <= now ? null : { heldAt: since };
}

/** Whether the two instants are more than seven days apart. */
export function isFar(one: Date, other: Date): boolean {
  return Math.abs(one.getTime() - other.getTime()) > farSeconds * 1000;
}

/**
 * The newest instant known to be true. Events count only up to the first gap of seven days: later
 * events were written by a clock that may have jumped.
 */
function newestKnown({ sweptAt, days }: Known): Date {
  let newest = sweptAt;
  for (const { first, last } of days) {
    if (isFar(newest, first)) break;
    newest = last;
  }
  return newest;
}
