import { dialectOfDatabase, select } from './select.ts';

// The clocks of the daemons and of the database may differ by a second.
const settledInstant = `SELECT (EXTRACT(EPOCH FROM LEAST(min(xact_start) - interval '1 second',
    clock_timestamp())) * 1000)::float8 AS settled FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'idctl%' AND pid <> pg_backend_pid()`;

/**
 * The time, in milliseconds since the epoch, up to which no more rows of that time can appear; null
 * on SQLite, where the order of the rows is always final. On PostgreSQL, an open transaction may
 * still write a row that is older than those already written. So may a transaction that begins
 * before the rows are read.
 */
export async function readSettled(): Promise<number | null> {
  if (dialectOfDatabase() === 'sqlite') return null;
  const [row] = await select<{ settled: number }>(settledInstant, []);
  return row?.settled ?? 0;
}
