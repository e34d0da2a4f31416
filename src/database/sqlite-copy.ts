import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { type Address, fileOf } from './connect.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { namedError } from './sqlite-errors.ts';

/** The input of the copying thread. */
export interface Copying {
  from: string;
  to: string;
}

/** The thread's answer, with SQLite's `errcode` if the copy failed. */
export interface Copied {
  errcode?: number;
  message?: string;
}

// A checkout has the source file, a release the compiled file.
const program = import.meta.url.endsWith('.ts')
  ? new URL('./sqlite-copier.ts', import.meta.url)
  : new URL('./sqlite-copier.js', import.meta.url);

/**
 * Writes a consistent copy of the database to a new file that only its owner can read. Other
 * processes may write in the meantime. The copy does not contain deleted data. A failed copy does
 * not leave a file.
 */
export async function copySqlite(address: Address, to: string): Promise<void> {
  await (await open(to, 'wx', 0o600)).close();
  try {
    if (address.sqliteDriver === 'sqlite3')
      await bySqlite3(address, (connection) => connection.run('VACUUM INTO $1', [to]));
    else await copyInThread(fileOf(address.url), to);
    await synced(to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

async function copyInThread(from: string, to: string): Promise<void> {
  const worker = new Worker(program, { workerData: { from, to } satisfies Copying });
  // An error event rejects. The only message is the thread's answer.
  const [{ errcode, message }] = (await once(worker, 'message')) as [Copied];
  if (message !== undefined) throw namedError(Object.assign(new Error(message), { errcode }));
}

/** Reads rows of a database, even if this process has it open. */
export async function readLive(address: Address, sql: string): Promise<Record<string, unknown>[]> {
  if (address.sqliteDriver === 'node') return readSqlite(fileOf(address.url), sql);
  return bySqlite3(address, (connection) => connection.all(sql, []));
}

/**
 * Opens the file with the package `sqlite3`, which contains its own SQLite. While the package has
 * the file open, Node's SQLite must not open it in this process: on closing, it would drop the
 * package's locks and remove the -wal (observed).
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

/** Reads rows with Node's SQLite. The package `sqlite3` must not have the file open here. */
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

/** Whether SQLite finds no fault in the file. */
export function isIntact(file: string): boolean {
  const [found] = readSqlite(file, 'PRAGMA integrity_check');
  const broken = readSqlite(file, 'PRAGMA foreign_key_check').length;
  return found?.['integrity_check'] === 'ok' && broken === 0;
}

/** Resolves when the file is synced to disk. */
export async function synced(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
