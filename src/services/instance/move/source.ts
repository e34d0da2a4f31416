import { countRows } from '../../../database/bulk.ts';
import type { Address } from '../../../database/connect.ts';
import { type MovedMark, movedMarkIn, movedRow, sourceOf } from '../../../database/marks.ts';
import { connectPlain, onPlain, type PlainConnection } from '../../../database/plain-connection.ts';
import type { Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { codeOf } from '../../../host/file-fault.ts';
import { after } from '../../foundation/time.ts';
import { silentSeconds } from '../daemons.ts';
import {
  beginAlone,
  beginLocked,
  commit,
  findDaemon,
  findOldestKey,
  insertMark,
  isLocked,
  listMigrations,
  refuseWrites,
  setLockingMode,
} from './move.sql.ts';

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
      await insertMark(connection, movedRow(mark), now);
      // A command that opened the database before the move could still write on PostgreSQL, and
      // that write would be lost.
      if (connection.dialect === 'postgres')
        await refuseWrites(connection, tables, `This database was moved to ${mark.to}.`);
      await commit(connection);
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
    const running = await daemonIn(connection, now);
    if (running !== null) throw running;
    if (await isLocked(connection, tables)) throw inUse();
  });
}

function patienceFor({ url }: Address): number {
  return url.startsWith('sqlite:') ? patienceForFile : statementPatience;
}

/** The digest that names the database in a mark, and the mark if the database was moved. */
export async function identifyInstance(
  connection: PlainConnection,
  address: Address,
): Promise<{ source: string; moved: MovedMark | null }> {
  // A copy of the instance has the same key, so the address is part of the name.
  const key = await findOldestKey(connection);
  const names = await listMigrations((sql) => connection.all(sql));
  return { source: sourceOf(key ?? 'none', address), moved: movedMarkIn(names) };
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
    await beginAlone(connection);
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_BUSY') throw error;
    await setLockingMode(connection, 'NORMAL');
    throw (await daemonIn(connection, now)) ?? inUse();
  }
}

/**
 * The lock for migrations stops daemons from starting. The table locks stop commands from writing.
 */
async function lockTables(connection: PlainConnection, tables: Table[], now: Date): Promise<void> {
  const running = await daemonIn(connection, now);
  if (running !== null) throw running;
  try {
    await beginLocked(connection, tables);
  } catch (error) {
    throw codeOf(error) === '55P03' ? inUse() : error;
  }
  // A daemon may have started between the first check and the lock.
  const started = await daemonIn(connection, now);
  if (started !== null) throw started;
}

/** The refusal that names a running daemon; null if none is known. */
async function daemonIn(connection: PlainConnection, now: Date): Promise<Refusal | null> {
  const daemon = await findDaemon(connection, after(now, -silentSeconds));
  if (daemon === null) return null;
  const silent = after(daemon.seenAt, silentSeconds);
  return new Refusal(
    'conflict',
    `A daemon is using this database: ${daemon.listen} on ${daemon.host}.`,
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
