import type { Context } from '../../context.ts';
import { Event } from '../../database/models/event.ts';
import { countUp } from '../limits/count.ts';
import { countSignIn } from '../sessions/outcomes.ts';
import { type Happening, type Recurring, recordEvent } from './record.ts';

const windowSeconds = 900;
// A counter is a 32-bit number in the database.
const unlimited = 2 ** 31 - 1;

/**
 * Writes what strangers can make happen at will as one event for whom (`of`) and what (`apart`) it is
 * about in a quarter of an hour, which says how often it did; so nobody fills the disk (security X5).
 */
export async function tallyEvent(
  ctx: Context,
  what: Recurring,
  by: { of: string; apart: string },
): Promise<void> {
  const said: Record<string, unknown> = what.data ?? {};
  const method = /^(?:(\w+)\.)?signin\.refused$/.exec(what.kind);
  if (method) countSignIn(ctx, method[1] ?? String(said['method']), 'refused');
  const window = await countUp(ctx, { ...by, name: what.kind, most: unlimited, seconds: windowSeconds });
  if (window === null) return;
  const data = { ...said, count: window.used };
  // What recurs says all of its kind but the count, which is here.
  if (window.used === 1) return recordEvent(ctx, { ...what, data } as Happening, window.id);
  await Event.update({ data: { ...data, lastAt: ctx.now.toISOString() } }, { where: { id: window.id } });
}
