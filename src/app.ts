import type { LoadedConfig } from './config/load.ts';
import type { Config } from './config/schema.ts';
import type { App } from './context.ts';
import { keyFileReader } from './crypto/key-file.ts';
import { createPasswordHasher } from './crypto/password.ts';
import { createKeyring } from './crypto/seal.ts';
import { type Database, openDatabase } from './database/open.ts';
import { databaseRefusal } from './database/refusals.ts';
import { assertNoTransaction, rehearse } from './database/transaction.ts';
import { Refusal } from './errors.ts';
import { createMemory } from './host/memory.ts';
import { createLog } from './log/log.ts';
import { createOutageLog } from './log/outage.ts';
import { createOutbound } from './outbound/create.ts';
import type { Outbound } from './outbound/outbound.ts';
import { ensureSigningKey, requireRightKey } from './services/foundation/keys/open.ts';

/** How `openApp` opens the database. */
export interface OpenOptions {
  /**
   * `yes` applies pending migrations, `refuse-pending` refuses them with `not_ready`. `already`
   * skips both: a move has already migrated the copy that it opens.
   */
  migrate: 'yes' | 'refuse-pending' | 'already';
  /** Whether to migrate even while a process of another release uses the database. */
  besideOthers?: boolean;
  /** Called with the name of each applied migration. */
  migrated?: (name: string) => void;
  /** Called once the schema is up to date, before the key is checked against the database. */
  first?: (app: App) => Promise<void>;
}

/**
 * Opens all resources of a process: key, database, outbound. Refuses with `config_invalid`,
 * `key_invalid`, `schema_newer`, `database_moved`, `not_ready`, `conflict` if it may not migrate
 * yet, or an error of the database such as `database_unreachable`. After a refusal, nothing is
 * open.
 */
export async function openApp(
  { config }: Pick<LoadedConfig, 'config'>,
  options: OpenOptions,
): Promise<App> {
  const readKeys = keyFileReader(config.keyFile);
  const keyring = createKeyring(readKeys(), readKeys);
  const outbound = createOutbound(config, assertNoTransaction);
  const { memory, time, lanes } = config.password.argon2;
  const database = await openDatabase(config.database);
  const log = createLog(config);
  const outages = createOutageLog(log, () => isSound(database));
  const app: App = {
    config,
    clock: () => new Date(),
    outbound,
    keyring,
    passwords: createPasswordHasher({ memory, time, lanes }),
    log,
    memory: createMemory(),
    databaseLoad: () => database.load(),
    async ready() {
      const writable = await requireReady(database);
      if (!writable) outages.tell(withoutCommits());
      return { writable };
    },
    tellOutage: outages.tell,
    moved: outages.moved,
    refusalOf: databaseRefusal,
    rehearse,
    close: async () => {
      outages.end();
      await Promise.all([app.outbound.close(), database.close()]);
    },
  };
  try {
    await prepare(app, database, config, options);
    return app;
  } catch (error) {
    await app.close();
    throw databaseRefusal(error) ?? error;
  }
}

/** Opens only the database, for diagnosis and completion. Applies no migrations. */
export function openUnprepared(config: Config): Promise<Database> {
  return openDatabase(config.database);
}

/** Opens only the network. Refuses with `config_invalid`. */
export function openNetwork(config: Config): Outbound {
  return createOutbound(config, assertNoTransaction);
}

async function prepare(
  app: App,
  database: Database,
  config: Config,
  options: OpenOptions,
): Promise<void> {
  if (options.migrate === 'yes') {
    if (!options.besideOthers) await database.requireNoOtherRelease();
    await copyFirst(app, database, options);
    for (const migration of await database.migrate()) {
      app.log.info({ migration }, 'migrated');
      options.migrated?.(migration);
    }
  } else if (options.migrate === 'refuse-pending') {
    await requireMigrated(database);
  }
  await options.first?.(app);
  const now = app.clock();
  await requireRightKey({ keyring: app.keyring, keyFile: config.keyFile, now });
  await ensureSigningKey({ keyring: app.keyring, now });
}

/**
 * Copies a SQLite database before pending migrations change it, so that the operator can go back.
 * A restore does not need a copy.
 */
async function copyFirst(
  { clock, log }: App,
  database: Database,
  { first }: OpenOptions,
): Promise<void> {
  if (first !== undefined || (await database.pending()).length === 0) return;
  const copy = await database.copyFirst(clock());
  if (copy !== null) log.info({ file: copy }, 'copied before migrating');
}

/** Refuses if requests cannot be answered. Returns whether writes succeed too. */
async function requireReady(database: Database): Promise<boolean> {
  await database.ping();
  await requireMigrated(database);
  return database.writable();
}

/** Whether requests can be answered and the last write was committed. */
async function isSound(database: Database): Promise<boolean> {
  await requireReady(database);
  return !database.failing();
}

function withoutCommits(): Refusal {
  return new Refusal('database_busy', 'The database has not committed a write for ten seconds.', {
    hint: 'Check for a lock that another process holds, a disk that hangs, and a missing synchronous standby.',
  });
}

async function requireMigrated(database: Database): Promise<void> {
  const [pending] = await database.pending();
  if (pending === undefined) return;
  throw new Refusal('not_ready', `The database lacks the migration ${pending}.`, {
    hint: { technical: 'Apply it with: idctl migrate' },
  });
}
