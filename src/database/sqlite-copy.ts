import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { type Address, fileOf } from './connect.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { namedError } from './sqlite-errors.ts';

/** What the copying thread is told. */
export interface Copying {
  from: string;
  to: string;
}

/** What it answers; with an `errcode` of SQLite's when it failed. */
export interface Copied {
  errcode?: number;
  message?: string;
}

// As it is checked out, or as it was compiled.
const program = import.meta.url.endsWith('.ts')
  ? new URL('./sqlite-copier.ts', import.meta.url)
  : new URL('./sqlite-copier.js', import.meta.url);

/**
 * Copies the database at an address to a new file, for its owner alone, as it is at one instant while others go on writing;
 * what has been deleted is not in the copy. A copy that fails leaves nothing.
 */
export async function copySqlite(address: Address, to: string): Promise<void> {
  await (await open(to, 'wx', 0o600)).close();
  try {
    if (address.sqliteDriver === 'sqlite3')
      await bySqlite3(address, (connection) => connection.run('VACUUM INTO ?', [to]));
    else await copyInThread(fileOf(address.url), to);
    await synced(to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

async function copyInThread(from: string, to: string): Promise<void> {
  const worker = new Worker(program, { workerData: { from, to } satisfies Copying });
  // An error event rejects; the only message is the thread's answer.
  const [{ errcode, message }] = (await once(worker, 'message')) as [Copied];
  if (message !== undefined) throw namedError(Object.assign(new Error(message), { errcode }));
}

/** Rows of the database at an address, which this process may have open. */
export async function readLive(address: Address, sql: string): Promise<Record<string, unknown>[]> {
  if (address.sqliteDriver === 'node') return readSqlite(fileOf(address.url), sql);
  return bySqlite3(address, (connection) => connection.all(sql, []));
}

/**
 * The package has a SQLite of its own. Where it has the file open, Node's must not open it in the same process: closing that one ends the
 * locks of the other, and removes the -wal beneath it (seen).
 */
async function bySqlite3<T>(
  { url }: Address,
  work: (connection: SqliteConnection) => Promise<T>,
): Promise<T> {
  const { sqlite3 } = await import('./sqlite3.ts');
  const options = { file: fileOf(url), foreignKeys: false, patience: 5000 };
  const connection = await (await sqlite3())(options, true);
  try {
    return await work(connection);
  } catch (error) {
    throw namedError(error);
  } finally {
    await connection.close();
  }
}

/** Rows of a file that this process does not have open. */
export function readSqlite(file: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    return database.prepare(sql).all();
  } catch (error) {
    throw namedError(error);
  } finally {
    database.close();
  }
}

/** Settles when the disk has the file. */
export async function synced(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
