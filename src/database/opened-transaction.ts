import { type Sequelize, Transaction } from 'sequelize';
import { runOn } from './direct.ts';
import { dropGeneration, generationOf, limitsOfTransaction } from './postgres-connection.ts';
import { databaseRefusal, isReadOnly } from './refusals.ts';

// How a transaction of Sequelize begins and ends. Its own ways print failures past the log, and cost
// more than a short transaction itself.

/** Sequelize's types omit its end, and how a transaction takes its connection and gives it back. */
export type Opened = Transaction & {
  connection: object;
  finished?: string;
  begin(): Promise<void>;
  prepareEnvironment(useCLS: boolean): Promise<void>;
  cleanup(): void;
  forceCleanup(): Promise<void>;
};

/** Begins a transaction that writes. Unless `synced`, its commit need not wait for the disk. */
export async function beginTransaction(
  sequelize: Sequelize,
  { synced }: { synced: boolean },
): Promise<Opened> {
  const options = { type: Transaction.TYPES.IMMEDIATE };
  // It has what the type adds.
  const opened = new Transaction(sequelize, options) as Opened;
  opened.begin = async () => {
    const sql = beginning(sequelize, opened, synced);
    await runOn(sequelize, opened.connection, sql, []);
  };
  opened.rollback = () => endTransaction(sequelize, opened, 'ROLLBACK');
  await opened.prepareEnvironment(false);
  return opened;
}

/** What begins a transaction, and sets what lasts for it only. */
function beginning(sequelize: Sequelize, { connection }: Opened, synced: boolean): string {
  // The driver for SQLite sets `synchronous` itself.
  if (sequelize.getDialect() === 'sqlite') return 'BEGIN IMMEDIATE';
  const limits = limitsOfTransaction(connection);
  const sets = [limits, synced ? null : 'SET LOCAL synchronous_commit TO OFF'];
  return ['BEGIN', ...sets.filter((set) => set !== null)].join('; ');
}

/** Commits or rolls back, and gives the connection back. */
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

/** Rolls back a transaction that failed for this reason. */
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
    // Report the reason for the rollback, not the failed rollback.
  }
}

// A ROLLBACK over a lost connection to PostgreSQL would only fail again; the server rolls back
// itself.
function isLost(sequelize: Sequelize, reason: unknown): boolean {
  return (
    sequelize.getDialect() === 'postgres' &&
    databaseRefusal(reason)?.code === 'database_unreachable'
  );
}
