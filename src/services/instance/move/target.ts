import { existsSync, lstatSync } from 'node:fs';
import { emptyTables } from '../../../database/bulk.ts';
import { type Address, connect, fileOf } from '../../../database/connect.ts';
import { shownAddress } from '../../../database/marks.ts';
import { applyMigrations, markFirst } from '../../../database/migrate.ts';
import { migrations } from '../../../database/migrations/index.ts';
import {
  connectPlain,
  type PlainConnection,
  type PlainRow,
} from '../../../database/plain-connection.ts';
import { databaseRefusal } from '../../../database/refusals.ts';
import { execute, select } from '../../../database/select.ts';
import { readSqlite } from '../../../database/sqlite-copy.ts';
import type { Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { statementPatience } from './source.ts';

// From its first table until the end of the move, the new database has a mark, by which daemons and
// commands refuse it.

/** Apart from the lock for migrations, which a transaction holds. */
const moveLock = 7_236_412_012;

/** Refuses an address whose database is not empty, but for a half copy that has this mark. */
export async function requireEmpty(to: Address, mark: string): Promise<void> {
  const { tables, names } = await lookAt(to);
  if (tables.length > 0 && !names.includes(mark)) throw notEmpty(to, tables.length);
}

/** Whether the database at this address is a half copy with this mark. */
export async function isHalfCopy(to: Address, mark: string): Promise<boolean> {
  return (await lookAt(to)).names.includes(mark);
}

/**
 * Marks the empty database or half copy, migrates it, and empties its tables. No other move can
 * write it until the connection is closed.
 */
export async function claimTarget(
  to: Address,
  { mark, tables }: { mark: string; tables: Table[] },
): Promise<PlainConnection> {
  await prepareSchema(to, mark);
  const connection = await connectPlain(to, statementPatience);
  try {
    if (connection.dialect === 'sqlite') await connection.all('PRAGMA locking_mode = EXCLUSIVE');
    else await takeMoveLock(connection);
    await emptyTables(connection, tables);
    await connection.setSync(false);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Resolves when the whole copy is on the disk of the new database. */
export async function storeCopy(
  { all, setSync }: PlainConnection,
  { mark, now }: { mark: string; now: Date },
): Promise<void> {
  await setSync(true);
  // A commit that waits for the disk waits for all those before it.
  await all('UPDATE migrations SET applied_at = $1 WHERE name = $2', [now, mark]);
}

/** Removes the mark. Call it in a transaction of the opened copy. */
export async function removeMark(mark: string): Promise<void> {
  await execute('DELETE FROM migrations WHERE name = $1', [mark]);
}

/** Whether the opened copy still has the mark. Call it in the transaction that removes it. */
export async function stillMarked(mark: string): Promise<boolean> {
  return (await select('SELECT name FROM migrations WHERE name = $1', [mark])).length > 0;
}

async function prepareSchema(to: Address, mark: string): Promise<void> {
  // As for every migration: a connection of its own, because SQLite needs foreign keys off.
  const link = await connect(to, { poolSize: 1, patience: statementPatience, foreignKeys: false });
  try {
    await markFirst(link, mark, (names) => {
      if (names.length > 0 && !names.includes(mark)) throw notEmpty(to, names.length);
    });
    await applyMigrations(link, migrations, { marked: true });
  } finally {
    await link.close();
  }
}

async function takeMoveLock({ all }: PlainConnection): Promise<void> {
  const [taken] = await all(`SELECT pg_try_advisory_lock(${moveLock}) AS taken`);
  if (taken?.['taken'] === true) return;
  throw new Refusal('conflict', 'Another move into the new database is under way.', {
    hint: 'Wait until it ends.',
  });
}

/** Opening a missing SQLite file would create it. */
function isMissing({ url }: Address): boolean {
  return url.startsWith('sqlite:') && !existsSync(fileOf(url));
}

/** An existing file may belong to another user, or be readable by one (security X8). */
function requireOwnFile({ url }: Address): void {
  const file = fileOf(url);
  const { uid, mode, size } = lstatSync(file);
  if (uid === process.geteuid?.() && (mode & 0o077) === 0 && size > 0) return;
  throw new Refusal('conflict', `${file} exists already.`, {
    hint: 'A move replaces nothing. Name a file that does not exist.',
  });
}

type Ask = (sql: string) => Promise<PlainRow[]>;

/** The tables there, and what the table `migrations` names. Writes nothing. */
async function lookAt(to: Address): Promise<{ tables: string[]; names: string[] }> {
  if (isMissing(to)) return { tables: [], names: [] };
  if (to.url.startsWith('sqlite:')) requireOwnFile(to);
  try {
    return await asking(to, async (ask) => {
      const tables = namesIn(await ask(to.url.startsWith('sqlite:') ? inSqlite : inPostgres));
      const marked = tables.includes('migrations');
      return { tables, names: marked ? namesIn(await ask('SELECT name FROM migrations')) : [] };
    });
  } catch (error) {
    throw ofTarget(to, databaseRefusal(error) ?? error);
  }
}

const inSqlite = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
const inPostgres = 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()';

function namesIn(rows: PlainRow[]): string[] {
  return rows.map(({ name }) => String(name));
}

async function asking<T>(to: Address, work: (ask: Ask) => Promise<T>): Promise<T> {
  // A connection of the drivers would change the journal of a file that may not be ours.
  if (to.url.startsWith('sqlite:')) return work(async (sql) => readSqlite(fileOf(to.url), sql));
  const connection = await connectPlain(to, 5000);
  try {
    return await work((sql) => connection.all(sql));
  } finally {
    await connection.close();
  }
}

/** The words for the configured database, for the new one. */
function ofTarget(to: Address, error: unknown): unknown {
  if (!(error instanceof Refusal) || error.code !== 'database_unreachable') return error;
  return new Refusal(error.code, `The new database ${shownAddress(to)} cannot be used.`, {
    hint: 'Check the address, and that idctl may read and write there.',
    cause: error,
  });
}

function notEmpty(to: Address, tables: number): Refusal {
  const one = to.url.startsWith('sqlite:')
    ? 'Name a file that does not exist.'
    : 'Make an empty database (createdb NAME) and name it.';
  return new Refusal(
    'conflict',
    `The new database ${shownAddress(to)} is not empty: it has ${tables} tables.`,
    { hint: `A move replaces nothing. ${one}` },
  );
}
