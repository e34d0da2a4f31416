import { accessSync, closeSync, constants, openSync } from 'node:fs';
import type { SQLInputValue } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../host/file-fault.ts';
import { isBusy } from './sqlite-errors.ts';

// Shared by the two SQLite drivers.

/** The options for opening a file. */
export interface SqliteOptions {
  file: string;
  /** Off for migrations, which rebuild tables, and for copies. */
  foreignKeys: boolean;
  /** The longest wait of a statement for another process's lock, in milliseconds. */
  patience: number;
}

/** The values of a statement's parameters: a list for `$1`, `$2`, …, or an object by their names. */
export type SqlParameters = readonly unknown[] | Readonly<Record<string, unknown>>;

interface Changes {
  lastID: number;
  changes: number;
}

/** One connection to the file. */
export interface SqliteConnection {
  all(sql: string, parameters: SqlParameters): Promise<Record<string, unknown>[]>;
  run(sql: string, parameters: SqlParameters): Promise<Changes>;
  /** Sets whether later commits wait for the disk. */
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
 * Creates a missing file, readable only by its owner. SQLite gives -wal and -shm the same mode.
 * Does not open an existing file: closing it would drop all POSIX locks that this process has on
 * it, and SQLite needs these locks.
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
 * Runs the work when no other process holds the lock, or throws after `patience` milliseconds.
 * SQLite's own busy timeout is 0, because a wait inside SQLite would block the event loop or a
 * thread. The random pause keeps processes from colliding repeatedly.
 */
export async function whenFree<T>(work: () => T | Promise<T>, patience: number): Promise<T> {
  let deadline: number | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      deadline ??= performance.now() + patience;
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await pause(2 + Math.random() * 18);
  }
}

/** A statement with a `?` for each use of `$1`, `$2`, …, and the numbers of these uses. */
export interface Placed {
  sql: string;
  numbers: readonly number[];
}

/** Replaces names by places. To bind values by name takes longer than a short query. */
export function placed(sql: string): Placed {
  const names = sql.match(/\$\d+/g) ?? [];
  return {
    sql: sql.replaceAll(/\$\d+/g, '?'),
    numbers: names.map((name) => Number(name.slice(1))),
  };
}

/** The value of each place. Without `$1`, the statement has its own `?`, in the order of the values. */
export function valuesOf({ numbers }: Placed, values: readonly unknown[]): SQLInputValue[] {
  if (numbers.length === 0) return values.map(bindable);
  return numbers.map((number) => bindable(values[number - 1]));
}

/**
 * Whether the statement has places for these values. Without values, a `$1` is part of a text or of a
 * name: a release calls a model `Session$1`.
 */
export function hasPlaces(parameters: SqlParameters): parameters is readonly unknown[] {
  return Array.isArray(parameters) && parameters.length > 0;
}

/** Converts a value to the form that SQLite stores. */
export function bindable(value: unknown): SQLInputValue {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  // Sequelize stores times in this format, and comparisons in raw queries need the same one.
  if (value instanceof Date) return value.toISOString().replace('T', ' ').replace('Z', ' +00:00');
  // The driver refuses values that SQLite cannot store.
  return value as SQLInputValue;
}
