import { type Sequelize, Transaction } from 'sequelize';
import { runOn } from './direct.ts';
import { dropGeneration, generationOf, limitsOfTransaction } from './postgres-connection.ts';
import { databaseRefusal, isReadOnly } from './refusals.ts';
import { withoutSync } from './without-sync.ts';

// Begins and ends Sequelize transactions directly. Sequelize's own code prints failures itself, not
// to the log, and costs more than a short transaction.

/** A transaction with the members that Sequelize's types omit. */
export type Opened = Transaction & {
  connection: object;
  finished?: string;
  begin(): Promise<void>;
  prepareEnvironment(useCLS: boolean): Promise<void>;
  cleanup(): void;
  forceCleanup(): Promise<void>;
};

/** Begins a write transaction. If `synced` is false, its commit does not wait for the disk. */
export async function beginTransaction(
  sequelize: Sequelize,
  { synced }: { synced: boolean },
): Promise<Opened> {
  const options = { type: Transaction.TYPES.IMMEDIATE };
  // The object has the members that the type adds.
  const opened = new Transaction(sequelize, options) as Opened;
  opened.begin = async () => {
    const sql = beginning(sequelize, opened, synced);
    // The driver for SQLite reads `withoutSync`.
    await withoutSync.run(!synced, () => runOn(sequelize, opened.connection, sql, []));
  };
  opened.rollback = () => endTransaction(sequelize, opened, 'ROLLBACK');
  await opened.prepareEnvironment(false);
  return opened;
}

/** The SQL that begins a transaction, with the settings that last until its end. */
function beginning(sequelize: Sequelize, { connection }: Opened, synced: boolean): string {
  // The driver for SQLite sets `synchronous` itself.
  if (sequelize.getDialect() === 'sqlite') return 'BEGIN IMMEDIATE';
  const limits = limitsOfTransaction(connection);
  const sets = [limits, synced ? null : 'SET LOCAL synchronous_commit TO OFF'];
  return ['BEGIN', ...sets.filter((set) => set !== null)].join('; ');
}

/** Commits or rolls back, and releases the connection. */
export async function endTransaction(
  sequelize: Sequelize,
  opened: Opened,
  how: 'COMMIT' | 'ROLLBACK',
): Promise<void> {
  try {
    opened.finished = how === 'COMMIT' ? 'commit' : 'rollback';
    await runOn(sequelize, opened.connection, how, []);
  } catch (error) {
    await opened.forceCleanup();
    throw error;
  }
  opened.cleanup();
}

/** Rolls back a transaction that failed with `reason`. */
export async function abandonTransaction(
  sequelize: Sequelize,
  opened: Opened,
  reason: unknown,
): Promise<void> {
  if (isReadOnly(reason)) dropGeneration(generationOf(opened.connection));
  try {
    if (isLost(sequelize, reason))
      await sequelize.connectionManager.destroyConnection(opened.connection);
    else await endTransaction(sequelize, opened, 'ROLLBACK');
  } catch {
    // The caller reports the reason for the rollback, not the failed rollback.
  }
}

// On a lost connection to PostgreSQL, a ROLLBACK would fail too. The server rolls back by itself.
function isLost(sequelize: Sequelize, reason: unknown): boolean {
  return (
    sequelize.getDialect() === 'postgres' &&
    databaseRefusal(reason)?.code === 'database_unreachable'
  );
}
