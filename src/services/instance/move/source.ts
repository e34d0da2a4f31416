import { countRows } from '../../../database/bulk.ts';
import type { Address } from '../../../database/connect.ts';
import { movedMark, shownAddress } from '../../../database/marks.ts';
import { advisoryLock } from '../../../database/migrate.ts';
import { connectPlain, type PlainConnection } from '../../../database/plain-connection.ts';
import type { Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { codeOf } from '../../../file-fault.ts';
import { after } from '../../foundation/time.ts';
import { silentSeconds } from '../daemons.ts';

/** How long one statement of a move may take, in milliseconds. */
export const statementPatience = 300_000;
const lockPatience = { sqlite: 1000, postgres: 5000 };

/** The database that a move reads, while no other process can write it. */
export interface Source {
  connection: PlainConnection;
  /** Marks it as moved to the address and ends the lock, in one transaction. */
  markMoved(to: Address): Promise<void>;
  /** Ends the lock. Safe to call after `markMoved`. */
  release(): Promise<void>;
}

/** Takes the writer's lock. Refuses `conflict` if a daemon or a command uses the database. */
export async function holdSource(address: Address, tables: Table[], now: Date): Promise<Source> {
  const sqlite = address.url.startsWith('sqlite:');
  const connection = await connectPlain(address, sqlite ? lockPatience.sqlite : statementPatience);
  try {
    await (sqlite ? lockFile(connection, now) : lockTables(connection, tables, now));
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    connection,
    markMoved: async (to) => {
      await connection.all('INSERT INTO migrations (name, applied_at) VALUES ($1, $2)', [
        movedMark(to),
        now,
      ]);
      if (!sqlite) await refuseWrites(connection, tables, to);
      await connection.all('COMMIT');
    },
    release: () => connection.close(),
  };
}

/** The id of the instance's oldest signing key. A copy of the instance has it too. */
export async function instanceIn({ all }: PlainConnection): Promise<string> {
  const [key] = await all('SELECT id FROM signing_keys ORDER BY created_at, id LIMIT 1');
  return String(key?.['id'] ?? 'none');
}

/** The number of rows of each table. */
export async function countTables(connection: PlainConnection, tables: Table[]) {
  const counted: { name: string; rows: number }[] = [];
  for (const table of tables)
    counted.push({ name: table.name, rows: await countRows(connection, table) });
  return counted;
}

/** In this mode, SQLite grants the lock only if no other process has the file open. */
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
 * The lock for migrations keeps daemons from starting. The table locks keep commands from writing.
 */
async function lockTables(connection: PlainConnection, tables: Table[], now: Date): Promise<void> {
  const { all } = connection;
  const running = await daemonIn(connection, now);
  if (running !== null) throw running;
  await all('BEGIN');
  await all(`SET LOCAL lock_timeout = ${lockPatience.postgres}`);
  try {
    await all(`SELECT pg_advisory_xact_lock(${advisoryLock})`);
    const names = tables.map(({ name }) => `"${name}"`);
    await all(`LOCK TABLE ${names.join(', ')} IN EXCLUSIVE MODE`);
  } catch (error) {
    throw codeOf(error) === '55P03' ? inUse() : error;
  }
  // A daemon may have started between the first look and the lock.
  const started = await daemonIn(connection, now);
  if (started !== null) throw started;
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
      hint: `Stop it: systemctl stop idctl. If it was killed, wait until ${clockTime(silent)}.`,
    },
  );
}

function clockTime(instant: Date): string {
  return `${instant.toISOString().slice(11, 19)} UTC`;
}

function inUse(): Refusal {
  return new Refusal('conflict', 'Another process uses this database.', {
    hint: 'Stop the daemon (systemctl stop idctl), and let other idctl commands end.',
  });
}

/**
 * A command that opened the database before the move may still want to write. The server then
 * refuses that, so no acknowledged write is lost.
 */
async function refuseWrites({ all }: PlainConnection, tables: Table[], to: Address): Promise<void> {
  const message = `This database was moved to ${shownAddress(to)}.`.replaceAll("'", "''");
  await all(`CREATE OR REPLACE FUNCTION idctl_moved() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION USING ERRCODE = '25006', MESSAGE = TG_ARGV[0]; END $$`);
  for (const { name } of tables) {
    await all(`CREATE TRIGGER idctl_moved BEFORE INSERT OR UPDATE OR DELETE ON "${name}"
      FOR EACH STATEMENT EXECUTE FUNCTION idctl_moved('${message}')`);
  }
}
