import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type pg from 'pg';
import { Refusal } from '../errors.ts';
import { type Address, connect, fileOf, openerOf } from './connect.ts';
import { shownAddress } from './marks.ts';
import { isPooled } from './postgres-connection.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { namedError } from './sqlite-errors.ts';

/** The longest wait of a statement for a PostgreSQL lock, in milliseconds. */
const lockPatience = 5_000;

/** A row as an object, by column name. */
export type PlainRow = Record<string, unknown>;

/** One connection without the ORM. Statements on it begin and end transactions themselves. */
export interface PlainConnection {
  readonly dialect: 'sqlite' | 'postgres';
  /** Runs a statement with the parameters `$1`, `$2`, … in this order, and returns its rows. */
  all(sql: string, values?: readonly unknown[]): Promise<PlainRow[]>;
  /** Sets whether later commits wait for the disk. */
  setSync(wanted: boolean): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens one connection. `patience` is the longest time for a statement on PostgreSQL, or for a lock
 * on SQLite, in milliseconds.
 */
export async function connectPlain(address: Address, patience: number): Promise<PlainConnection> {
  return address.url.startsWith('sqlite:')
    ? plainSqlite(address, patience)
    : plainPostgres(address, patience);
}

/** Opens one connection, runs the work, and closes the connection. */
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
      const rows = await named(connection.all(sql, values));
      // Node's driver is synchronous. Without a pause, timers would wait for the whole copy.
      await yieldToEventLoop();
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
  // Sequelize types the connection as object. It is pg's client.
  const client = (await connectionManager.getConnection({ type: 'write' })) as pg.Client;
  // A pooler could hand a session with this connection's settings and locks to another client.
  if (isPooled(client)) {
    await connectionManager.destroyConnection(client).catch(() => {});
    await close();
    throw new Refusal(
      'conflict',
      `${shownAddress(address)} is a connection pooler such as PgBouncer.`,
      {
        hint: 'For both databases of a move, use the address of the PostgreSQL server itself.',
      },
    );
  }
  await client.query(`SET lock_timeout = ${lockPatience}`);
  return {
    dialect: 'postgres',
    all: async (sql, values = []) => (await client.query<PlainRow>(sql, [...values])).rows,
    setSync: async (wanted) => {
      await client.query(`SET synchronous_commit TO ${wanted ? 'on' : 'off'}`);
    },
    async close() {
      // The connection may have an open transaction, so it must not go back to the pool.
      await connectionManager.destroyConnection(client).catch(() => {});
      await close();
    },
  };
}
