import type { Model, ModelStatic } from 'sequelize';
import { dialectOfDatabase, select } from './select.ts';
import { unsynced } from './transaction.ts';

interface Old {
  /** An indexed column. Rows with a value less than `before` are old. */
  column: string;
  before: unknown;
  /** A second column, whose value must be less than this too. */
  and?: { column: string; before: unknown };
  /** A further condition in SQL. */
  also?: string;
  /** The rows deleted in one transaction. Set it if deleting a row also deletes many others. */
  batch?: number;
}

/** Aborts a deletion after its current batch, so that a daemon can stop soon. */
export type Stop = AbortSignal | undefined;

// Other writers wait only for one batch, not for the whole deletion.
const rowsOfBatch = 500;
/**
 * The maximum number of rows that one call deletes from a table. The next run of the job deletes
 * more.
 */
export const maxDeleted = 200_000;

/**
 * Deletes old rows in small transactions, the oldest first. Several daemons can do this at the same
 * time: each deletes different rows. A power failure may undo the last deletions.
 */
export async function deleteOld<Row extends Model>(
  model: ModelStatic<Row>,
  { column, before, and, also = 'true', batch = rowsOfBatch }: Old,
  stop: Stop,
): Promise<void> {
  const table = model.getTableName();
  const fields = model.primaryKeyAttributes.map((name) => model.getAttributes()[name]?.field);
  const key = fields.join(', ');
  // SQLite has one writer, so it does not need row locks.
  const free = dialectOfDatabase() === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED';
  const second = and === undefined ? 'true' : `${and.column} < $2`;
  const bind = and === undefined ? [before] : [before, and.before];
  const sql = `DELETE FROM ${table} WHERE (${key}) IN (
    SELECT ${key} FROM ${table} WHERE ${column} < $1 AND ${second} AND ${also}
     ORDER BY ${column} LIMIT ${batch} ${free}) RETURNING 1`;
  for (let left = maxDeleted; left > 0 && !stop?.aborted; left -= batch) {
    const deleted = await unsynced(() => select(sql, bind));
    if (deleted.length < batch) return;
  }
}
