import type { Sequelize } from 'sequelize';
import { type Address, type Behaviour, connect, type Link } from './connect.ts';
import { applyMigrations, pendingMigrations } from './migrate.ts';
import { initModels } from './models/index.ts';
import { serveStatements } from './select.ts';
import { endReader } from './select-within.ts';
import { copyBeforeMigration } from './snapshot.ts';
import { serveTransactions, transactionsInHand } from './transaction.ts';

/** How busy the connections to the database are. */
export interface DatabaseLoad {
  used: number;
  idle: number;
  waiting: number;
}

/** The one database of the process. */
export interface Database {
  sequelize: Sequelize;
  dialect: 'sqlite' | 'postgres';
  /** Copies a SQLite file before what is pending changes it; answers where to, or null when there is nothing to copy. */
  copyFirst(now: Date): Promise<string | null>;
  /** Applies what is pending and returns the names; safe when several processes do it at once. */
  migrate(): Promise<string[]>;
  /** The migrations not applied yet; refuses `schema_newer` for a database of a newer idctl. */
  pending(): Promise<string[]>;
  /** Connections used and idle, and how many are waited for; on SQLite its one writer's. */
  load(): DatabaseLoad;
  /** Settles when the database answers. */
  ping(): Promise<void>;
  /** Lets the last transaction end and closes every connection; safe to call twice. */
  close(): Promise<void>;
}

/** Opens the database and binds the models to it; it is first contacted by the first query. */
export async function openDatabase(options: Address & { poolSize?: number }): Promise<Database> {
  const behaviour: Behaviour = {
    poolSize: options.poolSize ?? 10,
    patience: 5_000,
    foreignKeys: true,
  };
  const link = await connect(options, behaviour);
  const endTransactions = serveTransactions(link.sequelize);
  initModels(link.sequelize);
  serveStatements(link.sequelize);
  let closing: Promise<void> | undefined;
  return {
    sequelize: link.sequelize,
    dialect: link.dialect,
    copyFirst: async (now) =>
      link.dialect === 'sqlite' ? copyBeforeMigration(options, now) : null,
    migrate: () => migrate(options),
    pending: () => pendingMigrations(link.sequelize),
    load: () => loadOf(link),
    ping: () => link.sequelize.authenticate(),
    close: () => {
      closing ??= endTransactions().then(endReader).then(link.close);
      return closing;
    },
  };
}

function loadOf({ sequelize, dialect }: Link): DatabaseLoad {
  if (dialect === 'sqlite') {
    const inHand = transactionsInHand();
    return {
      used: Math.min(1, inHand),
      idle: Math.max(0, 1 - inHand),
      waiting: Math.max(0, inHand - 1),
    };
  }
  // Sequelize's types leave its pool out.
  const { pool } = sequelize.connectionManager as typeof sequelize.connectionManager & {
    pool: { using: number; available: number; waiting: number };
  };
  return { used: pool.using, idle: pool.available, waiting: pool.waiting };
}

async function migrate(address: Address): Promise<string[]> {
  // A connection of its own: a migration may take long, and on SQLite needs foreign keys off.
  const link = await connect(address, { poolSize: 1, patience: 300_000, foreignKeys: false });
  try {
    return await applyMigrations(link);
  } finally {
    await link.close();
  }
}
