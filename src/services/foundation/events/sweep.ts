import { secondsOf } from '../../../config/duration.ts';
import type { Context } from '../../../context.ts';
import { execute, select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { after } from '../time.ts';

/** Small batches: another writer waits for one batch, not for the whole deletion. */
const batch = 1000;

/** Deletes the events older than `events.retention`, each batch in its own transaction. */
export async function sweepEvents(ctx: Context): Promise<void> {
  const before = after(ctx.now, -secondsOf(ctx.config.events.retention));
  for (let more = true; more; ) more = await transaction(() => sweepBatch(before));
}

async function sweepBatch(before: Date): Promise<boolean> {
  // Ids are ordered by time, so the oldest rows are found without a scan. The times decide.
  const rows = await select<{ id: string; old: boolean | number }>(
    `SELECT id, at < $1 AS old FROM events ORDER BY id LIMIT ${batch}`,
    [before],
  );
  const old = rows.filter((row) => row.old).map(({ id }) => id);
  if (old.length === 0) return false;
  const places = old.map((_, at) => `$${at + 1}`);
  await execute(`DELETE FROM events WHERE id IN (${places.join(', ')})`, old);
  return old.length === rows.length && rows.length === batch;
}
