import { accessSync, closeSync, constants, openSync } from 'node:fs';
import type { SQLInputValue } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../file-fault.ts';
import { isBusy } from './sqlite-errors.ts';

// What the two drivers for SQLite have in common.

/** How a file is opened. */
export interface SqliteOptions {
  file: string;
  /** Off only for migrations, which rebuild tables. */
  foreignKeys: boolean;
  /** How long a statement waits for another process's lock, in milliseconds. */
  patience: number;
}

/** Values for the `$name` or `?` of a statement. */
export type SqlParameters = readonly unknown[] | Readonly<Record<string, unknown>>;

/** What a write has changed. */
interface Changes {
  lastID: number;
  changes: number;
}

/** One connection to the file. */
export interface SqliteConnection {
  all(sql: string, parameters: SqlParameters): Promise<Record<string, unknown>[]>;
  run(sql: string, parameters: SqlParameters): Promise<Changes>;
  /** Whether the commits from now on wait for the disk. */
  setSync(wanted: boolean): Promise<void>;
  /** Whether a transaction is open. */
  inTransaction(): boolean;
  /** Ends a transaction that may be open. */
  rollback(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file; `writer` false refuses every write. */
export type OpenConnection = (options: SqliteOptions, writer: boolean) => Promise<SqliteConnection>;

/**
 * Creates the file, if there is none, readable by its owner alone: SQLite gives -wal and -shm its mode. One that is there is
 * not opened: to close it again would end every lock that this process has on it (POSIX), and those of SQLite protect the -wal.
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
 * Does the work as soon as no other process holds the lock, for so many milliseconds. A wait inside SQLite would stop
 * the event loop or a thread, so its own busy timeout is 0; with jitter, so that processes do not meet again and again.
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

/** The value as SQLite keeps it. */
export function bindable(value: unknown): SQLInputValue {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  // As Sequelize stores times, so that a raw query compares like with like.
  if (value instanceof Date) return value.toISOString().replace('T', ' ').replace('Z', ' +00:00');
  // What SQLite cannot hold is refused by the driver itself.
  return value as SQLInputValue;
}
