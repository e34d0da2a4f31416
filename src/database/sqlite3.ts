import { Refusal } from '../errors.ts';
import { codeOf } from '../host/file-fault.ts';
import { shellWord } from '../text/shell-word.ts';
import {
  bindable,
  createFile,
  hasPlaces,
  type OpenConnection,
  placed,
  type SqliteConnection,
  type SqliteOptions,
  type SqlParameters,
  valuesOf,
  whenFree,
} from './sqlite-connection.ts';
import { isInterrupted } from './sqlite-errors.ts';

type Opened = (error: Error | null) => void;

// The part of the optional package's types that is used here. The package need not be installed.
interface Database {
  all(
    sql: string,
    values: unknown,
    done: (error: Error | null, rows: Record<string, unknown>[]) => void,
  ): void;
  run(
    sql: string,
    values: unknown,
    done: (this: { lastID: number; changes: number }, error: Error | null) => void,
  ): void;
  exec(sql: string, done: Opened): void;
  interrupt(): void;
  close(done: Opened): void;
}
interface Sqlite3 {
  Database: new (file: string, opened: Opened) => Database;
}

/** Opens connections with the optional package `sqlite3`. Refuses if it is missing. */
export async function sqlite3(): Promise<OpenConnection> {
  const { Database } = await load();
  return async (options, writer) => {
    createFile(options.file);
    const database = await opened(Database, options.file);
    const exec = (sql: string) => done<void>((settle) => database.exec(sql, settle));
    try {
      await whenFree(
        () => exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = WAL'),
        options.patience,
      );
      await exec(
        `PRAGMA synchronous = FULL; PRAGMA foreign_keys = ${options.foreignKeys ? 'ON' : 'OFF'}`,
      );
      if (!writer) await exec('PRAGMA query_only = ON');
    } catch (error) {
      database.close(() => {});
      throw error;
    }
    return connection(database, exec, options.patience);
  };
}

function connection(
  database: Database,
  exec: (sql: string) => Promise<void>,
  patience: number,
): SqliteConnection {
  let [open, synced] = [false, true];
  // The package does not report whether a transaction is open.
  const follow = (sql: string) => {
    if (/^BEGIN\b/i.test(sql)) open = true;
    if (/^(COMMIT|ROLLBACK)\b/i.test(sql)) open = false;
  };
  return {
    async all(sql, parameters) {
      const ask = () =>
        done<Record<string, unknown>[]>((settle) =>
          database.all(...bound(sql, parameters), settle),
        );
      const rows = await whenFree(ask, patience);
      follow(sql);
      return rows;
    },
    async run(sql, parameters) {
      const changes = await whenFree(() => changed(database, sql, parameters), patience);
      follow(sql);
      return changes;
    },
    async setSync(wanted) {
      if (wanted !== synced) await exec(`PRAGMA synchronous = ${wanted ? 'FULL' : 'NORMAL'}`);
      synced = wanted;
    },
    inTransaction: () => open,
    async rollback() {
      // After an error such as a full disk, SQLite has already rolled back.
      if (open) await exec('ROLLBACK').catch(unlessNoTransaction);
      open = false;
    },
    close: () => done<void>((settle) => database.close(settle)),
  };
}

function unlessNoTransaction(error: Error): void {
  if (!error.message.includes('no transaction is active')) throw error;
}

/**
 * Runs a query that may scan a whole table, on its own connection, in a thread of the package.
 * Returns null after `milliseconds`.
 */
export async function readInTime(
  options: SqliteOptions,
  { sql, bind }: { sql: string; bind: readonly unknown[] },
  milliseconds: number,
): Promise<object[] | null> {
  const { Database } = await load();
  const database = await opened(Database, options.file);
  const timer = setTimeout(() => database.interrupt(), Math.max(0, milliseconds));
  try {
    await done<void>((settle) => database.exec('PRAGMA query_only = ON', settle));
    return await done<object[]>((settle) => database.all(...bound(sql, bind), settle));
  } catch (error) {
    if (isInterrupted(error)) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    await done<void>((settle) => database.close(settle));
  }
}

function opened(Database: Sqlite3['Database'], file: string): Promise<Database> {
  return done<Database>((settle) => {
    const opening: Database = new Database(file, (error) => settle(error, opening));
  });
}

function changed(database: Database, sql: string, parameters: SqlParameters) {
  return done<{ lastID: number; changes: number }>((settle) =>
    database.run(...bound(sql, parameters), function (error) {
      settle(error, { lastID: this.lastID, changes: this.changes });
    }),
  );
}

/** The statement and its values, as the package takes them. */
function bound(sql: string, parameters: SqlParameters): [string, unknown] {
  if (hasPlaces(parameters)) {
    const statement = placed(sql);
    return [statement.sql, valuesOf(statement, parameters)];
  }
  const named = Object.entries(parameters).map(([name, value]) => [name, bindable(value)]);
  return [sql, Object.fromEntries(named)];
}

/** Turns a call with a callback into a promise. */
function done<T>(call: (settle: (error: Error | null, value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error === null ? resolve(value) : reject(error)));
  });
}

async function load(): Promise<Sqlite3> {
  // The type is `string`, so that the compiler does not resolve the package: it may be missing.
  const name: string = 'sqlite3';
  try {
    // The package has a default export of this type.
    return ((await import(name)) as { default: Sqlite3 }).default;
  } catch (cause) {
    const missing = codeOf(cause) === 'ERR_MODULE_NOT_FOUND';
    throw new Refusal(
      'config_invalid',
      `database.sqliteDriver is sqlite3, but that package ${missing ? 'is not installed' : 'cannot be loaded'}.`,
      { hint: { technical: installing() }, cause },
    );
  }
}

/**
 * The command that installs the package. In an installation, the package goes beside the releases,
 * where the next release finds it too.
 */
function installing(): string {
  const prefix = /^(.*)\/lib\/idctl\/releases\/[^/]+\/dist$/.exec(import.meta.dirname)?.[1];
  const command =
    prefix === undefined
      ? 'npm install --no-save sqlite3@6.0.1'
      : `./install.sh --with-sqlite3 --prefix ${shellWord(prefix)}`;
  return `Install it from the checkout: ${command}. Or set database.sqliteDriver to node.`;
}
