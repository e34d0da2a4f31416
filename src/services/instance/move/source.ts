import { countRows, list } from '../../../database/bulk.ts';
import type { Address } from '../../../database/connect.ts';
import { type MovedMark, movedMarkIn, movedRow, sourceOf } from '../../../database/marks.ts';
import { advisoryLock } from '../../../database/migrate.ts';
import { connectPlain, onPlain, type PlainConnection } from '../../../database/plain-connection.ts';
import type { Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { codeOf } from '../../../host/file-fault.ts';
import { after } from '../../foundation/time.ts';
import { silentSeconds } from '../daemons.ts';

/** The longest time for one statement of a move, in milliseconds. */
export const statementPatience = 300_000;
const patienceForFile = 1000;

/** The database that a move reads. No other process can write to it meanwhile. */
export interface Source {
  connection: PlainConnection;
  /** Marks the database as moved, and commits the transaction that began with the lock. */
  markMoved(mark: MovedMark): Promise<void>;
  /** Releases the lock. Safe to call after `markMoved`. */
  release(): Promise<void>;
}

/** Locks the database against writers. Refuses with `conflict` if a daemon or a command uses it. */
export async function holdSource(address: Address, tables: Table[], now: Date): Promise<Source> {
  const connection = await connectPlain(address, patienceFor(address));
  try {
    await (connection.dialect === 'sqlite'
      ? lockFile(connection, now)
      : lockTables(connection, tables, now));
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    connection,
    markMoved: async (mark) => {
      await connection.all('INSERT INTO migrations (name, applied_at) VALUES ($1, $2)', [
        movedRow(mark),
        now,
      ]);
      if (connection.dialect === 'postgres') await refuseWrites(connection, tables, mark.to);
      await connection.all('COMMIT');
    },
    release: () => connection.close(),
  };
}

/**
 * Refuses with `conflict` if a daemon or a command uses the database now. On PostgreSQL, this only
 * reads, and waits at most five seconds for another process's lock.
 */
export async function requireUnused(address: Address, tables: Table[], now: Date): Promise<void> {
  await onPlain(address, patienceFor(address), async (connection) => {
    if (connection.dialect === 'sqlite') return lockFile(connection, now);
    const refusal = (await daemonIn(connection, now)) ?? (await lockedIn(connection, tables));
    if (refusal !== null) throw refusal;
  });
}

function patienceFor({ url }: Address): number {
  return url.startsWith('sqlite:') ? patienceForFile : statementPatience;
}

/** The digest that names the database in a mark, and the mark if the database was moved. */
export async function identifyInstance(
  { all }: PlainConnection,
  address: Address,
): Promise<{ source: string; moved: MovedMark | null }> {
  // A copy of the instance has the same key, so the address is part of the name.
  const [key] = await all('SELECT id FROM signing_keys ORDER BY created_at, id LIMIT 1');
  const names = (await all('SELECT name FROM migrations')).map(({ name }) => String(name));
  return { source: sourceOf(String(key?.['id'] ?? 'none'), address), moved: movedMarkIn(names) };
}

/** The number of rows of each table. */
export async function countTables(connection: PlainConnection, tables: Table[]) {
  const counted: { name: string; rows: number }[] = [];
  for (const table of tables)
    counted.push({ name: table.name, rows: await countRows(connection, table) });
  return counted;
}

/** Locks a SQLite file, which succeeds only if no other process has the file open. */
async function lockFile(connection: PlainConnection, now: Date): Promise<void> {
  try {
    await connection.all('PRAGMA locking_mode = EXCLUSIVE');
    await connection.all('BEGIN IMMEDIATE');
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_BUSY') throw error;
    await connection.all('PRAGMA locking_mode = NORMAL');
    throw (await daemonIn(connection, now)) ?? inUse();
  }
}

/**
 * The lock for migrations stops daemons from starting. The table locks stop commands from writing.
 */
async function lockTables(connection: PlainConnection, tables: Table[], now: Date): Promise<void> {
  const { all } = connection;
  const running = await daemonIn(connection, now);
  if (running !== null) throw running;
  await all('BEGIN');
  try {
    await all(`SELECT pg_advisory_xact_lock(${advisoryLock})`);
    await all(`LOCK TABLE ${list(tables.map(({ name }) => name))} IN EXCLUSIVE MODE`);
  } catch (error) {
    throw codeOf(error) === '55P03' ? inUse() : error;
  }
  // A daemon may have started between the first check and the lock.
  const started = await daemonIn(connection, now);
  if (started !== null) throw started;
}

/**
 * The refusal if another process holds a lock that would delay the move. Ignores locks of VACUUM
 * and ANALYZE: PostgreSQL cancels its automatic runs, and other runs end soon.
 */
async function lockedIn({ all }: PlainConnection, tables: Table[]): Promise<Refusal | null> {
  const [held] = await all(
    `SELECT pid FROM pg_locks WHERE granted AND pid <> pg_backend_pid()
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND ((locktype = 'advisory' AND (classid::bigint << 32) + objid::bigint = $1)
         OR (locktype = 'relation' AND mode NOT IN ('AccessShareLock', 'ShareUpdateExclusiveLock')
           AND relation IN (SELECT oid FROM pg_class WHERE relname = ANY($2)
                            AND relnamespace = current_schema()::regnamespace)))
     LIMIT 1`,
    [advisoryLock, tables.map(({ name }) => name)],
  );
  return held === undefined ? null : inUse();
}

/** The refusal that names a running daemon; null if none is known. */
async function daemonIn({ all, dialect }: PlainConnection, now: Date): Promise<Refusal | null> {
  const alive = after(now, -silentSeconds);
  const seen = dialect === 'sqlite' ? 'seen_at' : 'extract(epoch FROM seen_at) * 1000 AS seen_at';
  const [daemon] = await all(
    `SELECT host, listen, ${seen} FROM daemons WHERE seen_at >= $1 ORDER BY daemons.seen_at DESC`,
    [alive],
  );
  if (daemon === undefined) return null;
  const at = daemon['seen_at'];
  const silent = after(new Date(dialect === 'sqlite' ? String(at) : Number(at)), silentSeconds);
  return new Refusal(
    'conflict',
    `A daemon serves from this database: ${daemon['listen']} on ${daemon['host']}.`,
    {
      hint: `Stop the daemon: systemctl stop idctl. If it was killed, wait until ${clockTime(silent)}.`,
    },
  );
}

function clockTime(instant: Date): string {
  return `${instant.toISOString().slice(11, 19)} UTC`;
}

function inUse(): Refusal {
  return new Refusal('conflict', 'Another process uses this database.', {
    hint: 'Stop the daemon (systemctl stop idctl). Wait until other commands and database tools end.',
  });
}

/**
 * Makes the server refuse writes to the source. A command that opened the database before the move
 * could still write, and that write would be lost.
 */
async function refuseWrites({ all }: PlainConnection, tables: Table[], to: string): Promise<void> {
  await all(`CREATE OR REPLACE FUNCTION idctl_moved() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = TG_ARGV[0]; END $$`);
  // PostgreSQL quotes the names and texts for the statements.
  const made = await all(
    `SELECT format('CREATE TRIGGER idctl_moved BEFORE INSERT OR UPDATE OR DELETE ON %I
       FOR EACH STATEMENT EXECUTE FUNCTION idctl_moved(%L)', name, $2::text) AS sql
     FROM unnest($1::text[]) AS name`,
    [tables.map(({ name }) => name), `This database was moved to ${to}.`],
  );
  for (const { sql } of made) await all(String(sql));
}
