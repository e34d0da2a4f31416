import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Sweep } from '../../../database/models/sweep.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { after } from '../time.ts';
import { readDays } from './clock.sql.ts';
import { isFar, judgeClock, type Known, steadySeconds } from './judge.ts';

/**
 * Whether expired data may be deleted now. After a jump of the clock it may not, until the clock
 * has run for 24 hours without a jump, or is confirmed. The time of the sweep is stored.
 */
export async function mayDeleteExpired(ctx: Context): Promise<boolean> {
  const { now } = ctx;
  const { held, sweptAt } = await transaction(async () => {
    const row = await holdSweep();
    const known = await knownOf(row, now);
    const jump = judgeClock(known, now);
    if (jump === null) await row.update({ sweptAt: now, heldAt: null, seenAt: null });
    else await row.update({ heldAt: jump.heldAt, seenAt: now });
    return { held: jump, sweptAt: known.sweptAt };
  });
  if (held === null) return true;
  const reason = `the clock says ${now.toISOString()}, and the last sweep was at ${sweptAt.toISOString()}`;
  const message =
    'the clock jumped, so nothing expired is deleted; the check named sweep says what to do';
  ctx.log.warn({ reason }, message);
  return false;
}

/** The last sweep, and whether this clock has jumped since then. */
export interface ClockSeen {
  sweptAt: Date;
  /** After a jump: when the sweep continues if the clock does not jump again. Otherwise null. */
  resumesAt: Date | null;
}

/** Compares this clock with the last sweep. Read-only. */
export async function lookAtClock({ now }: Pick<Context, 'now'>): Promise<ClockSeen> {
  const row = await requireSweep();
  const jump = judgeClock(await knownOf(row, now), now);
  const resumesAt = jump === null ? null : after(jump.heldAt, steadySeconds);
  return { sweptAt: row.sweptAt, resumesAt };
}

/** Lets the sweep use this clock, although it jumped. Returns false if it did not jump. */
export async function confirmClock(ctx: Context): Promise<boolean> {
  requireOperator(ctx);
  return transaction(async () => {
    const row = await holdSweep();
    const { sweptAt } = row;
    if (judgeClock(await knownOf(row, ctx.now), ctx.now) === null) return false;
    await row.update({ sweptAt: ctx.now, heldAt: null, seenAt: null });
    await recordEvent(ctx, {
      kind: 'clock.confirmed',
      data: { lastSweep: sweptAt.toISOString() },
    });
    return true;
  });
}

/**
 * The time that decides what has expired when a job deletes a row: now, or the last sweep if this
 * clock is far ahead of it.
 */
export async function timeOfExpiry({ now }: Pick<Context, 'now'>): Promise<Date> {
  const { sweptAt } = await requireSweep();
  return sweptAt < now && isFar(sweptAt, now) ? sweptAt : now;
}

function requireSweep(): Promise<Sweep> {
  return Sweep.findOne({ rejectOnEmpty: true });
}

async function holdSweep(): Promise<Sweep> {
  const row = await hold.sweep({}, 'whole');
  if (row === null) throw new Error('the row of the sweep is gone');
  return row;
}

async function knownOf({ sweptAt, heldAt, seenAt }: Sweep, now: Date): Promise<Known> {
  const known = { sweptAt, heldAt, seenAt };
  // Events are read only if they could make a difference.
  if (now < sweptAt || !isFar(sweptAt, now)) return { ...known, days: [] };
  return { ...known, days: await readDays(sweptAt, now) };
}
