import type { Context } from '../../../context.ts';
import { Event } from '../../../database/models/event.ts';
import { countUp } from '../limits/count.ts';
import { countSignIn } from './outcomes.ts';
import { type Happening, type Recurring, recordEvent } from './record.ts';

const windowSeconds = 900;
// A counter is a 32-bit number in the database.
const unlimited = 2 ** 31 - 1;

/** How many references an event keeps: enough to find a person who asks, but bounded. */
const mostReferences = 20;

/**
 * Records what strangers can repeat as one event in a quarter of an hour, so that the disk cannot
 * fill. There is one for each subject (`of`) and detail (`apart`). It counts the failures and keeps
 * the last references shown to people (security X5).
 */
export async function tallyEvent(
  ctx: Context,
  what: Recurring,
  by: { of: string; apart: string },
): Promise<void> {
  const said: Record<string, unknown> = what.data ?? {};
  const method = /^(?:(\w+)\.)?signin\.refused$/.exec(what.kind);
  if (method) countSignIn(ctx, method[1] ?? String(said['method']), 'refused');
  const window = await countUp(ctx, {
    ...by,
    name: what.kind,
    most: unlimited,
    seconds: windowSeconds,
  });
  if (window === null) return;
  const data = { ...said, count: window.used };
  const now = [ctx.requestId];
  // A recurring event has all data of its kind, except the tally's fields, which are added here.
  if (window.used === 1) {
    return recordEvent(
      ctx,
      { ...what, data: { ...data, references: now } } as Happening,
      window.id,
    );
  }
  const references = [...(await earlierReferences(window.id)), ...now].slice(-mostReferences);
  const latest = { ...data, lastAt: ctx.now.toISOString(), references };
  await Event.update({ data: latest }, { where: { id: window.id } });
}

/**
 * Read after the count: the counter's row stays locked until this transaction ends, so no reference
 * is lost.
 */
async function earlierReferences(id: string): Promise<string[]> {
  const event = await Event.findByPk(id, { attributes: ['data'] });
  const references = event?.data['references'];
  return Array.isArray(references) ? references.map(String) : [];
}
