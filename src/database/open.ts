import { QueryTypes, type Sequelize } from 'sequelize';
import { type Address, type Behaviour, connect, type Link, onLink } from './connect.ts';
import { applyMigrations, pendingMigrations, watchSchema } from './migrate.ts';
import { initModels } from './models/index.ts';
import { requireNoOtherRelease } from './other-releases.ts';
import { dropGeneration, newestGeneration } from './postgres-connection.ts';
import { standbyRefusal } from './refusals.ts';
import { serveStatements } from './select.ts';
import { endReader } from './select-within.ts';
import { copyBeforeMigration } from './snapshot.ts';
import { serveTransactions, transactionsInHand } from './transaction.ts';
import { tryWrite, watchWrites } from './writes.ts';

/** The load on the database connections. */
export interface DatabaseLoad {
  used: number;
  idle: number;
  waiting: number;
}

/** The single open database of the process. */
export interface Database {
  sequelize: Sequelize;
  dialect: 'sqlite' | 'postgres';
  /**
   * Refuses with `conflict` if migrations are pending and a process of another release uses the
   * database. Call it before any other query.
   */
  requireNoOtherRelease(): Promise<void>;
  /**
   * Copies a SQLite file before pending migrations change it. Returns the path of the copy; null if
   * no copy is needed.
   */
  copyFirst(now: Date): Promise<string | null>;
  /**
   * Applies pending migrations and returns their names. Several processes may call it at the same
   * time.
   */
  migrate(): Promise<string[]>;
  /** The pending migrations. Refuses with `schema_newer` for a database of a newer idctl. */
  pending(): Promise<string[]>;
  /** The used and idle connections, and the callers waiting. On SQLite, only the writer counts. */
  load(): DatabaseLoad;
  /** Resolves when the database answers. Refuses a server that does not accept writes. */
  ping(): Promise<void>;
  /**
   * False after a write that failed for lack of space, and after ten seconds in which no write
   * succeeded although some were tried. True again once a trial write is committed.
   */
  writable(): boolean;
  /** Whether a write has failed since the last commit. */
  failing(): boolean;
  /** Allocates space in the database and commits, without a change. Throws as a write would. */
  tryWrite(): Promise<void>;
  /** Waits for the last transaction and closes all connections. May be called twice. */
  close(): Promise<void>;
}

interface OpenOptions {
  poolSize?: number;
  /** The clock of `writable`, in milliseconds. Tests replace it. */
  clock?: () => number;
}

/** Opens the database and binds the models to it. The first query opens a connection. */
export async function openDatabase(options: Address & OpenOptions): Promise<Database> {
  const behaviour: Behaviour = {
    poolSize: options.poolSize ?? 10,
    patience: 5_000,
    foreignKeys: true,
  };
  const link = await connect(options, behaviour);
  const { sequelize } = link;
  const clock = options.clock ?? (() => performance.now());
  const { attempt, writable, failing } = watchWrites(sequelize, clock);
  const endTransactions = serveTransactions(sequelize, {
    before: watchSchema(sequelize),
    attempt,
    settled: link.settled,
  });
  initModels(sequelize);
  serveStatements(sequelize);
  let closing: Promise<void> | undefined;
  return {
    sequelize,
    dialect: link.dialect,
    requireNoOtherRelease: () => requireNoOtherRelease(link, options),
    copyFirst: async (now) =>
      link.dialect === 'sqlite' ? copyBeforeMigration(options, now) : null,
    migrate: () => migrate(options),
    pending: () => pendingMigrations(sequelize),
    load: () => loadOf(link),
    ping: () => ping(link),
    writable,
    failing,
    tryWrite: () => tryWrite(sequelize),
    close: () => {
      closing ??= endTransactions().then(endReader).then(link.close);
      return closing;
    },
  };
}

async function ping({ sequelize, dialect }: Link): Promise<void> {
  if (dialect === 'sqlite') return sequelize.authenticate();
  const generation = newestGeneration();
  const [row] = await sequelize.query<{ value: string }>(
    "SELECT current_setting('transaction_read_only') AS value",
    { type: QueryTypes.SELECT },
  );
  if (row?.value !== 'on') return;
  dropGeneration(generation);
  throw standbyRefusal();
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
  // Sequelize's types omit its pool.
  const { pool } = sequelize.connectionManager as typeof sequelize.connectionManager & {
    pool: { using: number; available: number; waiting: number };
  };
  return { used: pool.using, idle: pool.available, waiting: pool.waiting };
}

function migrate(address: Address): Promise<string[]> {
  // This opens a separate connection: a migration may take long, and on SQLite it needs foreign
  // keys off.
  const behaviour = { poolSize: 1, patience: 300_000, foreignKeys: false };
  return onLink(address, behaviour, (link) => applyMigrations(link));
}
