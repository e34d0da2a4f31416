import type { Context } from '../../context.ts';
import { Event } from '../../database/models/event.ts';
import { countUp } from '../limits/count.ts';
import { countSignIn } from '../sessions/outcomes.ts';
import { type Happening, recordEvent } from './record.ts';

const windowSeconds = 900;
// A counter is a 32-bit number in the database.
const unlimited = 2 ** 31 - 1;

/**
 * Writes what strangers can make happen at will as one event for whom (`of`) and what (`apart`) it is
 * about in a quarter of an hour, which says how often it did; so nobody fills the disk (security X5).
 */
export async function tallyEvent(
  ctx: Context,
  what: Happening,
  by: { of: string; apart: string },
): Promise<void> {
  const method = /^(?:(\w+)\.)?signin\.refused$/.exec(what.kind);
  if (method) countSignIn(ctx, method[1] ?? String(what.data?.['method']), 'refused');
  const window = await countUp(ctx, { ...by, name: what.kind, most: unlimited, seconds: windowSeconds });
  if (window === null) return;
  const data = { ...what.data, count: window.used };
  if (window.used === 1) return recordEvent(ctx, { ...what, data }, window.id);
  await Event.update({ data: { ...data, lastAt: ctx.now.toISOString() } }, { where: { id: window.id } });
}
