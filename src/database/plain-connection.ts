import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type pg from 'pg';
import { Refusal } from '../errors.ts';
import { type Address, connect, fileOf, openerOf } from './connect.ts';
import { shownAddress } from './marks.ts';
import { isPooled } from './postgres-connection.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { namedError } from './sqlite-errors.ts';

/** How long a statement waits for a lock of PostgreSQL, in milliseconds. */
const lockPatience = 5_000;

/** A row by the names of its columns. */
export type PlainRow = Record<string, unknown>;

/** One connection past the ORM, with the transactions that its statements begin and end. */
export interface PlainConnection {
  readonly dialect: 'sqlite' | 'postgres';
  /** The rows of a statement with `$1`, `$2`, … in this order. */
  all(sql: string, values?: readonly unknown[]): Promise<PlainRow[]>;
  /** Whether commits from now on wait for the disk. */
  setSync(wanted: boolean): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens one connection. `patience` is how long a statement may take and SQLite waits for a lock, in
 * milliseconds.
 */
export async function connectPlain(address: Address, patience: number): Promise<PlainConnection> {
  return address.url.startsWith('sqlite:')
    ? plainSqlite(address, patience)
    : plainPostgres(address, patience);
}

/** Opens one connection for the time of this work. */
export async function onPlain<T>(
  address: Address,
  patience: number,
  work: (connection: PlainConnection) => Promise<T>,
): Promise<T> {
  const connection = await connectPlain(address, patience);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function plainSqlite(address: Address, patience: number): Promise<PlainConnection> {
  const open = await openerOf(address);
  const options = { file: fileOf(address.url), foreignKeys: true, patience };
  const connection: SqliteConnection = await named(open(options, true));
  return {
    dialect: 'sqlite',
    async all(sql, values = []) {
      const rows = await named(connection.all(sql.replace(/\$\d+/g, '?'), values));
      // Node's driver answers at once; without a pause, timers would wait for the whole copy.
      await turnOfTheLoop();
      return rows;
    },
    setSync: (wanted) => connection.setSync(wanted),
    close: () => connection.close(),
  };
}

function named<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw namedError(error);
  });
}

async function plainPostgres(address: Address, patience: number): Promise<PlainConnection> {
  const { sequelize, close } = await connect(address, { poolSize: 1, patience, foreignKeys: true });
  const { connectionManager } = sequelize;
  // Sequelize types it as object; here it is pg's client.
  const client = (await connectionManager.getConnection({ type: 'write' })) as pg.Client;
  // A pooler may give its next client a session with the settings and locks of a move.
  if (isPooled(client)) {
    await connectionManager.destroyConnection(client).catch(() => {});
    await close();
    throw new Refusal('conflict', `${shownAddress(address)} is a pooler such as PgBouncer.`, {
      hint: 'Name the PostgreSQL server itself, for both databases of a move.',
    });
  }
  await client.query(`SET lock_timeout = ${lockPatience}`);
  return {
    dialect: 'postgres',
    all: async (sql, values = []) => (await client.query<PlainRow>(sql, [...values])).rows,
    setSync: async (wanted) => {
      await client.query(`SET synchronous_commit TO ${wanted ? 'on' : 'off'}`);
    },
    async close() {
      // Not back to the pool, because it may have an open transaction.
      await connectionManager.destroyConnection(client).catch(() => {});
      await close();
    },
  };
}
