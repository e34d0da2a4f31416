import { list } from '../../../database/bulk.ts';
import { advisoryLock } from '../../../database/migrate.ts';
import type { PlainConnection, PlainRow } from '../../../database/plain-connection.ts';
import { execute, select } from '../../../database/select.ts';
import type { Table } from '../../../database/tables.ts';

// The SQL of a move, on connections without the ORM. The rows of a table are in database/bulk.ts.

type Asked = Pick<PlainConnection, 'all'>;

/** Runs a query on one of the two databases. */
export type AskDatabase = (sql: string) => Promise<PlainRow[]>;

const inSqlite = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const inPostgres = 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()';

/** The names of the tables. */
export async function listTableNames(
  ask: AskDatabase,
  dialect: 'sqlite' | 'postgres',
): Promise<string[]> {
  return namesIn(await ask(dialect === 'sqlite' ? inSqlite : inPostgres));
}

/** The names in the table `migrations`: migrations and marks. */
export async function listMigrations(ask: AskDatabase): Promise<string[]> {
  return namesIn(await ask('SELECT name FROM migrations'));
}

function namesIn(rows: PlainRow[]): string[] {
  return rows.map(({ name }) => String(name));
}

/** The data of the events of moves: JSON as text on SQLite, values on PostgreSQL. */
export async function readMoves(ask: AskDatabase): Promise<unknown[]> {
  const rows = await ask("SELECT data FROM events WHERE kind = 'database.moved'");
  return rows.map(({ data }) => data);
}

/** The id of the oldest signing key; null if there is none. */
export async function findOldestKey({ all }: Asked): Promise<string | null> {
  const [key] = await all('SELECT id FROM signing_keys ORDER BY created_at, id LIMIT 1');
  return key === undefined ? null : String(key['id']);
}

/** Writes a mark. */
export async function insertMark({ all }: Asked, name: string, now: Date): Promise<void> {
  await all('INSERT INTO migrations (name, applied_at) VALUES ($1, $2)', [name, now]);
}

/** Changes the time of a mark. */
export async function touchMark({ all }: Asked, name: string, now: Date): Promise<void> {
  await all('UPDATE migrations SET applied_at = $1 WHERE name = $2', [now, name]);
}

/** Deletes a mark in the open transaction of the ORM; false if it does not exist. */
export async function deleteMark(name: string): Promise<boolean> {
  // This update takes the write lock before the check.
  await execute('UPDATE migrations SET applied_at = applied_at WHERE name = $1', [name]);
  const found = await select('SELECT name FROM migrations WHERE name = $1', [name]);
  if (found.length === 0) return false;
  await execute('DELETE FROM migrations WHERE name = $1', [name]);
  return true;
}

/** Sets whether the next transaction on a SQLite file excludes other processes for good. */
export async function setLockingMode({ all }: Asked, mode: 'EXCLUSIVE' | 'NORMAL'): Promise<void> {
  await all(`PRAGMA locking_mode = ${mode}`);
}

/** Begins a transaction that excludes other processes from a SQLite file. */
export async function beginAlone(connection: Asked): Promise<void> {
  await setLockingMode(connection, 'EXCLUSIVE');
  await connection.all('BEGIN IMMEDIATE');
}

/** Begins a transaction on PostgreSQL that locks migrations and these tables. */
export async function beginLocked({ all }: Asked, tables: Table[]): Promise<void> {
  await all('BEGIN');
  await all(`SELECT pg_advisory_xact_lock(${advisoryLock})`);
  await all(`LOCK TABLE ${list(tables.map(({ name }) => name))} IN EXCLUSIVE MODE`);
}

/** Commits the open transaction. */
export async function commit({ all }: Asked): Promise<void> {
  await all('COMMIT');
}

/** This is not the lock for migrations, which each migration takes in its own transaction. */
const moveLock = 7_236_412_012;

/**
 * Takes the lock that excludes other moves into this PostgreSQL database; false if another move has
 * it.
 */
export async function tryMoveLock({ all }: Asked): Promise<boolean> {
  const [taken] = await all(`SELECT pg_try_advisory_lock(${moveLock}) AS taken`);
  return taken?.['taken'] === true;
}

/**
 * Whether another process holds a lock on PostgreSQL that would delay the move. Ignores locks of
 * VACUUM and ANALYZE: PostgreSQL cancels its automatic runs, and other runs end soon.
 */
export async function isLocked({ all }: Asked, tables: Table[]): Promise<boolean> {
  const held = await all(
    `SELECT pid FROM pg_locks WHERE granted AND pid <> pg_backend_pid()
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND ((locktype = 'advisory' AND (classid::bigint << 32) + objid::bigint = $1)
         OR (locktype = 'relation' AND mode NOT IN ('AccessShareLock', 'ShareUpdateExclusiveLock')
           AND relation IN (SELECT oid FROM pg_class WHERE relname = ANY($2)
                            AND relnamespace = current_schema()::regnamespace)))
     LIMIT 1`,
    [advisoryLock, tables.map(({ name }) => name)],
  );
  return held.length > 0;
}

/** A daemon, and when it last reported. */
interface RunningDaemon {
  host: string;
  listen: string;
  seenAt: Date;
}

/** The daemon that reported last, at this instant or later; null if there is none. */
export async function findDaemon(
  { all, dialect }: Pick<PlainConnection, 'all' | 'dialect'>,
  since: Date,
): Promise<RunningDaemon | null> {
  const seen = dialect === 'sqlite' ? 'seen_at' : 'extract(epoch FROM seen_at) * 1000 AS seen_at';
  const [daemon] = await all(
    `SELECT host, listen, ${seen} FROM daemons WHERE seen_at >= $1 ORDER BY daemons.seen_at DESC`,
    [since],
  );
  if (daemon === undefined) return null;
  const { host, listen, seen_at: at } = daemon;
  const seenAt = new Date(dialect === 'sqlite' ? String(at) : Number(at));
  return { host: String(host), listen: String(listen), seenAt };
}

/** Makes a PostgreSQL server refuse writes to these tables with this message. */
export async function refuseWrites(
  { all }: Asked,
  tables: Table[],
  message: string,
): Promise<void> {
  await all(`CREATE OR REPLACE FUNCTION idctl_moved() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = TG_ARGV[0]; END $$`);
  // PostgreSQL quotes the names and texts for the statements.
  const made = await all(
    `SELECT format('CREATE TRIGGER idctl_moved BEFORE INSERT OR UPDATE OR DELETE ON %I
       FOR EACH STATEMENT EXECUTE FUNCTION idctl_moved(%L)', name, $2::text) AS sql
     FROM unnest($1::text[]) AS name`,
    [tables.map(({ name }) => name), message],
  );
  for (const { sql } of made) await all(String(sql));
}
