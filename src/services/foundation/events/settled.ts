import { idOfInstant } from '../../../crypto/id.ts';
import { dialectOfDatabase, select } from '../../../database/select.ts';

// How far the clocks of the daemons and of the database may be apart, in milliseconds.
const apart = 1000;

const oldest = `SELECT (EXTRACT(EPOCH FROM min(xact_start)) * 1000)::float8 AS began FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'idctl' AND pid <> pg_backend_pid()
    AND (backend_xid IS NOT NULL OR state = 'idle in transaction')`;

/**
 * The id up to which no event comes any more, or null where none can come behind another: on PostgreSQL a transaction
 * that is under way may yet write one that is older than what others have written.
 */
export async function settledId(): Promise<string | null> {
  if (dialectOfDatabase() === 'sqlite') return null;
  const [row] = await select<{ began: number | null }>(oldest, []);
  const began = row?.began ?? null;
  return began === null ? null : idOfInstant(began - apart);
}
