import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from './sqlite-errors.ts';

// A wait for another process must not stop the event loop, so SQLite's own busy timeout is 0 and the
// waiting happens here, with jitter, so that processes do not meet again and again.

/** How a file is opened. */
export interface SqliteOptions {
  file: string;
  /** Off only for migrations, which rebuild tables. */
  foreignKeys: boolean;
  /** How long a statement waits for another process's lock, in milliseconds. */
  patience: number;
}

/** Values for the `$name` or `?` of a statement. */
export type Parameters = readonly unknown[] | Readonly<Record<string, unknown>>;

interface Changes {
  lastID: number;
  changes: number;
}

/** One connection to the file. */
export interface SqliteConnection {
  all(sql: string, parameters: Parameters): Promise<Record<string, unknown>[]>;
  run(sql: string, parameters: Parameters): Promise<Changes>;
  /** Whether the commits from now on wait for the disk. */
  setSync(wanted: boolean): void;
  /** Whether a transaction is open. */
  inTransaction(): boolean;
  /** Ends a transaction that may be open. */
  rollback(): void;
  close(): void;
}

const keptStatements = 128;

/** Opens the file, creating it readable by its owner alone; `writer` false refuses every write. */
export async function openConnection(options: SqliteOptions, writer: boolean): Promise<SqliteConnection> {
  // SQLite gives -wal and -shm the mode of the file itself.
  closeSync(openSync(options.file, 'a', 0o600));
  const database = new DatabaseSync(options.file, {
    timeout: 0,
    enableForeignKeyConstraints: options.foreignKeys,
  });
  try {
    await whenFree(() => database.exec('PRAGMA journal_mode = WAL'), options.patience);
    database.exec('PRAGMA synchronous = FULL');
    if (!writer) database.exec('PRAGMA query_only = ON');
  } catch (error) {
    database.close();
    throw error;
  }
  return connection(database, options.patience);
}

function connection(database: DatabaseSync, patience: number): SqliteConnection {
  const statement = statements(database);
  let synced = true;
  return {
    all: (sql, parameters) =>
      // Spread, because the rows come without a prototype and callers may expect one.
      whenFree(
        () =>
          statement(sql)
            .all(...bound(parameters))
            .map((row) => ({ ...row })),
        patience,
      ),
    run: (sql, parameters) =>
      whenFree(() => {
        const { lastInsertRowid, changes } = statement(sql).run(...bound(parameters));
        return { lastID: Number(lastInsertRowid), changes: Number(changes) };
      }, patience),
    setSync: (wanted) => {
      if (wanted !== synced) database.exec(`PRAGMA synchronous = ${wanted ? 'FULL' : 'NORMAL'}`);
      synced = wanted;
    },
    inTransaction: () => database.isTransaction,
    rollback: () => {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
    close: () => database.close(),
  };
}

function statements(database: DatabaseSync): (sql: string) => StatementSync {
  const kept = new Map<string, StatementSync>();
  return (sql) => {
    const statement = kept.get(sql) ?? database.prepare(sql);
    // Sequelize hands over the whole bind object, used or not.
    statement.setAllowUnknownNamedParameters(true);
    kept.delete(sql);
    kept.set(sql, statement);
    const oldest = kept.keys().next();
    if (kept.size > keptStatements && !oldest.done) kept.delete(oldest.value);
    return statement;
  };
}

async function whenFree<T>(work: () => T, patience: number): Promise<T> {
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await pause(2 + Math.random() * 18);
  }
}

function bound(parameters: Parameters): [Record<string, SQLInputValue>, ...SQLInputValue[]] {
  if (isList(parameters)) return [{}, ...parameters.map(bindable)];
  return [Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, bindable(value)]))];
}

// Array.isArray does not narrow readonly arrays.
function isList(parameters: Parameters): parameters is readonly unknown[] {
  return Array.isArray(parameters);
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
