import type { Context } from '../../../context.ts';
import { right, wrong } from '../../../finding.ts';
import type { Next } from '../../../next.ts';
import { confirmClock, lookAtClock } from '../../foundation/clock/clock.ts';
import { findDaemonAhead } from '../daemons.ts';
import { type Check, check, shownTime } from './check.ts';

/**
 * Checks that no clock has jumped: after a jump, the sweep does not delete anything. With
 * `confirm`, the operator first confirms the clock of this machine.
 */
export function checkSweep(ctx: Context, { confirm = false } = {}): Promise<Check> {
  return check('sweep', 'no jump of the clock since the last sweep', async () => {
    const isConfirmed = confirm && (await confirmClock(ctx));
    const jump = await tellJump(ctx);
    if (jump !== null) return wrong(jump.message, jump.hint);
    const ahead = await findDaemonAhead(ctx);
    if (ahead !== null) {
      const { host, listen, seenAt } = ahead;
      return wrong(
        `the clock of the daemon at ${listen} on ${host} is ${apart(seenAt, ctx.now)} ahead of this one`,
        `Set the clocks of ${host} and of this machine with NTP.`,
      );
    }
    const { sweptAt } = await lookAtClock(ctx);
    if (isConfirmed) return right(`clock confirmed: ${shownTime(sweptAt)}`);
    const last = `last at ${shownTime(sweptAt)}`;
    return right(confirm ? `${last}; nothing to confirm: the clock has not jumped` : last);
  });
}

/** A message if this clock has jumped since the last sweep; otherwise null. */
export async function tellJump(ctx: Context): Promise<{ message: string; hint: Next } | null> {
  const { now } = ctx;
  const { sweptAt, resumesAt } = await lookAtClock(ctx);
  if (resumesAt === null) return null;
  const direction = now < sweptAt ? 'behind' : 'ahead of';
  return {
    message: `this clock (${shownTime(now)}) is ${apart(sweptAt, now)} ${direction} the last sweep (${shownTime(sweptAt)}), so nothing expired is deleted`,
    hint: [
      `If this clock is wrong, set it with NTP. If it is right, the daemon deletes again after ${shownTime(resumesAt)}.`,
      { say: 'Or confirm the clock', operation: 'doctor.confirm-clock' },
    ],
  };
}

function apart(one: Date, other: Date): string {
  const days = Math.round(Math.abs(one.getTime() - other.getTime()) / 86_400_000);
  return `${days} days`;
}
