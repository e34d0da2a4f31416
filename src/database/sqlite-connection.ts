import { accessSync, closeSync, constants, openSync } from 'node:fs';
import type { SQLInputValue } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../file-fault.ts';
import { isBusy } from './sqlite-errors.ts';

// Shared by the two SQLite drivers.

/** The options for opening a file. */
export interface SqliteOptions {
  file: string;
  /** Off only for migrations, which rebuild tables. */
  foreignKeys: boolean;
  /** How long a statement waits for another process's lock, in milliseconds. */
  patience: number;
}

/** Values for the `$name` or `?` of a statement. */
export type SqlParameters = readonly unknown[] | Readonly<Record<string, unknown>>;

interface Changes {
  lastID: number;
  changes: number;
}

/** One connection to the file. */
export interface SqliteConnection {
  all(sql: string, parameters: SqlParameters): Promise<Record<string, unknown>[]>;
  run(sql: string, parameters: SqlParameters): Promise<Changes>;
  /** Whether later commits wait for the disk. */
  setSync(wanted: boolean): Promise<void>;
  /** Whether a transaction is open. */
  inTransaction(): boolean;
  /** Rolls back the open transaction, if any. */
  rollback(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file. If `writer` is false, the connection refuses every write. */
export type OpenConnection = (options: SqliteOptions, writer: boolean) => Promise<SqliteConnection>;

/**
 * Creates a missing file, readable only by its owner: SQLite gives -wal and -shm the same mode. An
 * existing file is not opened, because closing it would drop all locks of this process on it
 * (POSIX). SQLite's locks protect the -wal.
 */
export function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    accessSync(file, constants.R_OK | constants.W_OK);
  }
}

/**
 * Does the work once no other process holds the lock, or fails after so many milliseconds. SQLite's
 * own busy timeout is 0, because a wait inside SQLite would block the event loop or a thread.
 * Jitter keeps processes from colliding again and again.
 */
export async function whenFree<T>(work: () => T | Promise<T>, patience: number): Promise<T> {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await pause(2 + Math.random() * 18);
  }
}

/** The value in the form that SQLite stores. */
export function bindable(value: unknown): SQLInputValue {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  // As Sequelize stores times, so that a raw query compares like with like.
  if (value instanceof Date) return value.toISOString().replace('T', ' ').replace('Z', ' +00:00');
  // The driver itself refuses values that SQLite cannot hold.
  return value as SQLInputValue;
}
