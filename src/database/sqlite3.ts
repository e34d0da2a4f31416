import { closeSync, openSync } from 'node:fs';
import { Refusal } from '../errors.ts';
import type { SqliteDriver } from './node-sqlite.ts';
import type { SqliteOptions } from './sqlite-connection.ts';

type Opened = (error: Error | null) => void;

// The part of the optional package's types that is used; it need not be installed.
interface Sqlite3 {
  Database: new (file: string, mode: number, opened: Opened) => { exec(sql: string, done: Opened): void };
}

/** The optional peer dependency `sqlite3` with our settings on every connection; refuses when it is missing. */
export async function sqlite3(options: SqliteOptions): Promise<SqliteDriver> {
  const library = await load();
  const settings = `PRAGMA busy_timeout = ${options.patience};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ${options.foreignKeys ? 'ON' : 'OFF'};`;
  class Database extends library.Database {
    constructor(file: string, mode: number, opened: Opened) {
      closeSync(openSync(file, 'a', 0o600));
      super(file, mode, (error) => (error ? opened(error) : this.exec(settings, opened)));
    }
  }
  return { module: { ...library, Database }, close: async () => {} };
}

async function load(): Promise<Sqlite3> {
  // Not a literal, so that the compiler does not look for a package that is seldom there.
  const name: string = 'sqlite3';
  try {
    // The package has one default export of this shape.
    return ((await import(name)) as { default: Sqlite3 }).default;
  } catch (cause) {
    throw new Refusal(
      'config_invalid',
      'database.sqliteDriver is sqlite3, but that package is not installed.',
      {
        hint: 'Install it beside idctl (npm install sqlite3), or set database.sqliteDriver to node.',
        cause,
      },
    );
  }
}
