import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
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
 * Copies the database of a file to a new one, for its owner alone, as it is at one instant while others go on writing;
 * what has been deleted is not in the copy. A copy that fails leaves nothing.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  await (await open(to, 'wx', 0o600)).close();
  try {
    const worker = new Worker(program, { workerData: { from, to } satisfies Copying });
    // An error event rejects; the only message is the thread's answer.
    const [{ errcode, message }] = (await once(worker, 'message')) as [Copied];
    if (message !== undefined) throw namedError(Object.assign(new Error(message), { errcode }));
    await synced(to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

/** Rows of a file, which nobody need have opened. */
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
