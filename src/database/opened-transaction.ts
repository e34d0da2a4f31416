import { type Sequelize, Transaction } from 'sequelize';
import { dropGeneration, generationOf } from './postgres-connection.ts';
import { databaseRefusal, isReadOnly } from './refusals.ts';

// How a transaction of Sequelize begins and ends. Its own ways print failures past the log.

/** Sequelize's types omit its end, and how a transaction takes its connection and gives it back. */
export type Opened = Transaction & {
  connection: object;
  finished?: string;
  options: object;
  prepareEnvironment(useCLS: boolean): Promise<void>;
  cleanup(): void;
  forceCleanup(): Promise<void>;
};

/** Begins a transaction that writes. */
export async function beginTransaction(sequelize: Sequelize): Promise<Opened> {
  const options = { type: Transaction.TYPES.IMMEDIATE };
  // It has what the type adds.
  const opened = new Transaction(sequelize, options) as Opened;
  opened.rollback = () => endTransaction(sequelize, opened, 'rollbackTransaction');
  await opened.prepareEnvironment(false);
  return opened;
}

/** Commits or rolls back, and gives the connection back. */
export async function endTransaction(
  sequelize: Sequelize,
  opened: Opened,
  how: 'commitTransaction' | 'rollbackTransaction',
): Promise<void> {
  try {
    await sequelize.getQueryInterface()[how](opened, opened.options);
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
    else await endTransaction(sequelize, opened, 'rollbackTransaction');
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
