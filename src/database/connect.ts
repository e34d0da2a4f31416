import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type pg from 'pg';
import { type Options, Sequelize } from 'sequelize';
import { Refusal } from '../errors.ts';
import { codeOf } from '../host/file-fault.ts';
import { type Direct, runDirectly } from './direct.ts';
import { migrations } from './migrations/index.ts';
import {
  generationOf,
  isPooled,
  newestGeneration,
  prepareConnection,
  withDeadline,
} from './postgres-connection.ts';
import type { OpenConnection } from './sqlite-connection.ts';

/** The address of the database, and the driver for SQLite. */
export interface Address {
  /** `sqlite:FILE` or `postgres://…` */
  url: string;
  sqliteDriver: 'node' | 'sqlite3';
}

/** The behaviour of the connections. */
export interface Behaviour {
  /** The maximum number of connections to PostgreSQL. */
  poolSize: number;
  /**
   * In milliseconds: the longest time for one statement on PostgreSQL, and the longest wait for
   * another process on SQLite.
   */
  patience: number;
  /** False only for migrations. PostgreSQL ignores this. */
  foreignKeys: boolean;
}

/** A database opened through Sequelize. */
export interface Link {
  sequelize: Sequelize;
  dialect: 'sqlite' | 'postgres';
  /**
   * Resolves once all commits before the call are on the disk. Absent on PostgreSQL, whose commits
   * wait themselves.
   */
  settled?: () => Promise<void>;
  close(): Promise<void>;
}

/** The name of sessions on PostgreSQL. It ends with the newest migration, so each release has one. */
export const applicationName = `idctl ${migrations.at(-1)?.name}`;

const common: Options = {
  // Sequelize's own logging would print values. Its retries would hide failures.
  logging: false,
  retry: { max: 1 },
};

/** Prepares access to the database. The first query opens a connection. */
export async function connect(address: Address, behaviour: Behaviour): Promise<Link> {
  return address.url.startsWith('sqlite:')
    ? toSqlite(address, behaviour)
    : toPostgres(address.url, behaviour);
}

async function toSqlite(address: Address, behaviour: Behaviour): Promise<Link> {
  const file = fileOf(address.url);
  const options = { file, foreignKeys: behaviour.foreignKeys, patience: behaviour.patience };
  const [{ sqliteDriver }, open] = await Promise.all([
    import('./sqlite-driver.ts'),
    openerOf(address),
  ]);
  const driver = sqliteDriver(open, options);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const sequelize = new Sequelize({
    ...common,
    dialect: 'sqlite',
    storage: file,
    dialectModule: driver.module,
    // Sequelize would set the pragma on each of its connections; the drivers already do.
    foreignKeys: false,
  } as Options); // The types do not know `foreignKeys`.
  const { read, run } = driver;
  const direct: Direct = { read, run };
  if (address.sqliteDriver === 'sqlite3') {
    const { readInTime } = await import('./sqlite3.ts');
    direct.readInTime = (...asked) => readInTime(options, ...asked);
  }
  runDirectly(sequelize, direct);
  return {
    sequelize,
    dialect: 'sqlite',
    settled: driver.settled,
    async close() {
      await sequelize.close();
      await driver.close();
    },
  };
}

/** The function that opens connections with the driver of this address. */
export async function openerOf({ sqliteDriver }: Address): Promise<OpenConnection> {
  if (sqliteDriver === 'sqlite3') return (await import('./sqlite3.ts')).sqlite3();
  return (await import('./node-sqlite.ts')).openNodeSqlite;
}

/** Connects, runs the work, and closes the connection. */
export async function onLink<T>(
  address: Address,
  behaviour: Behaviour,
  work: (link: Link) => Promise<T>,
): Promise<T> {
  const link = await connect(address, behaviour);
  try {
    return await work(link);
  } finally {
    await link.close();
  }
}

/** The absolute path of the file in `sqlite:FILE`. */
export function fileOf(url: string): string {
  const file = url.replace(/^sqlite:(\/\/)?/, '');
  if (file === '' || file.startsWith(':memory:')) {
    throw new Refusal(
      'config_invalid',
      'database.url: sqlite: must be followed by the path of a file',
    );
  }
  return resolve(file);
}

async function toPostgres(url: string, behaviour: Behaviour): Promise<Link> {
  const { default: driver } = await import('pg');
  const sequelize = new Sequelize(url, {
    ...common,
    dialectModule: withDeadline(driver),
    pool: { max: behaviour.poolSize, min: 0, idle: 10_000, acquire: 5_000, validate: isUsable },
    dialectOptions: {
      application_name: applicationName,
      keepAlive: true,
      connectionTimeoutMillis: 3_000,
      // A server that hangs cannot end a statement itself.
      query_timeout: behaviour.patience + 2_000,
    },
  });
  sequelize.addHook('afterConnect', (connection) =>
    // Sequelize types the connection as unknown. It is pg's client.
    prepareConnection(connection as pg.Client, behaviour.patience),
  );
  sequelize.addHook('afterQuery', (_options, { connection }) => dropUnanswered(connection));
  runDirectly(sequelize, {
    read: (...statement) => readPostgres(sequelize, queryOf(...statement)),
    // Sequelize types the connection as object. It is pg's client.
    run: (client, ...statement) => runPostgres(client as pg.Client, queryOf(...statement)),
  });
  return { sequelize, dialect: 'postgres', close: () => sequelize.close() };
}

// Only constant statements have names, so the map stays small.
const namesOfStatements = new Map<string, string>();

function queryOf(
  text: string,
  values: readonly unknown[],
  how?: { prepared: true },
): pg.QueryConfig {
  const query = { text, values: values.map(withoutNul) };
  if (how === undefined) return query;
  const name = namesOfStatements.get(text) ?? createHash('sha256').update(text).digest('base64url');
  namesOfStatements.set(text, name);
  return { ...query, name };
}

/** PostgreSQL cannot store NUL characters. Sequelize replaces them in the same way. */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\\0') : value;
}

/** Reads over a connection of Sequelize's pool. Discards the connection if the read fails. */
async function readPostgres(sequelize: Sequelize, query: pg.QueryConfig): Promise<object[]> {
  const { connectionManager } = sequelize;
  // Sequelize types the connection as object. It is pg's client.
  const client = (await connectionManager.getConnection({ type: 'read' })) as pg.Client;
  try {
    const { rows } = await send(client, query);
    connectionManager.releaseConnection(client);
    return rows;
  } catch (error) {
    void connectionManager.destroyConnection(client).catch(() => {});
    throw error;
  }
}

/** Runs a statement of a transaction. Closes a connection that does not answer. */
async function runPostgres(client: pg.Client, query: pg.QueryConfig): Promise<object[]> {
  try {
    return (await send(client, query)).rows;
  } catch (error) {
    if (isUnanswered(error)) dropUnanswered(Object.assign(client, { _invalid: true }));
    throw error;
  }
}

function send(client: pg.Client, query: pg.QueryConfig): Promise<pg.QueryResult<object>> {
  const { name: _, ...unnamed } = query;
  return client.query<object>(isPooled(client) ? unnamed : query);
}

/** Whether the server did not answer. Sequelize has the same rule for its own queries. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === 'ECONNRESET' || error.message === 'Query read timeout';
}

function isUsable(connection: unknown): boolean {
  // The connection is pg's client, with flags of Sequelize and pg.
  const client = connection as pg.Client & { _invalid?: boolean; _ending: boolean };
  return !client._invalid && !client._ending && generationOf(client) === newestGeneration();
}

// Without this, a ROLLBACK queued behind an unanswered statement would wait as long again.
function dropUnanswered(connection: object): void {
  // Sequelize types the connection as object. It is pg's client, with Sequelize's flag.
  const client = connection as pg.Client & { _invalid?: boolean };
  if (client._invalid) void client.end().catch(() => {});
}
