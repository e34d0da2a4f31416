import type { Model, ModelStatic } from 'sequelize';
import { dialectOfDatabase, select } from './select.ts';
import { unsynced } from './transaction.ts';

interface Old {
  /** A column with an index: rows with less than `before` are old. */
  column: string;
  before: unknown;
  /** A further condition, whose parameters begin with `$2`. */
  also?: string;
  bind?: unknown[];
  /** The rows of one transaction, if each takes many others with it. */
  batch?: number;
}

/** Ends a deletion after its current batch, so that a daemon that stops does not wait for it. */
export type Stop = AbortSignal | undefined;

// Another writer waits for one batch, not for the whole deletion.
const rowsOfBatch = 500;
/** The most rows of a table that one call deletes. The next run of its job deletes the others. */
export const mostDeleted = 200_000;

/**
 * Deletes old rows, the oldest first, in small transactions. Daemons that do this at once share the
 * rows. A power cut may undo it.
 */
export async function deleteOld<Row extends Model>(
  model: ModelStatic<Row>,
  { column, before, also = 'true', bind = [], batch = rowsOfBatch }: Old,
  stop: Stop,
): Promise<void> {
  const table = model.getTableName();
  const fields = model.primaryKeyAttributes.map((name) => model.getAttributes()[name]?.field);
  const key = fields.join(', ');
  // SQLite has one writer.
  const free = dialectOfDatabase() === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED';
  const sql = `DELETE FROM ${table} WHERE (${key}) IN (
    SELECT ${key} FROM ${table} WHERE ${column} < $1 AND ${also}
     ORDER BY ${column} LIMIT ${batch} ${free}) RETURNING 1`;
  for (let left = mostDeleted; left > 0 && !stop?.aborted; left -= batch) {
    const deleted = await unsynced(() => select(sql, [before, ...bind]));
    if (deleted.length < batch) return;
  }
}
