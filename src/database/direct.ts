import type { Sequelize } from 'sequelize';

// Runs statements of a transaction directly on the driver. For statements at every request,
// Sequelize would cost more than the statement itself.

/** Reads with plain SQL and `$1` parameters, outside transactions. */
export type Read = (
  sql: string,
  bind: readonly unknown[],
  how?: { prepared: true },
) => Promise<object[]>;

/** Runs a statement on the connection of a transaction. */
type Run = (connection: object, ...statement: Parameters<Read>) => Promise<object[]>;

const runs = new WeakMap<Sequelize, Run>();

/** Sets the function that runs statements of transactions. */
export function runDirectly(sequelize: Sequelize, run: Run): void {
  runs.set(sequelize, run);
}

/** The function that runs statements of transactions, bypassing Sequelize. */
export function directRunOf(sequelize: Sequelize): Run {
  const run = runs.get(sequelize);
  if (run === undefined) throw new Error('the driver runs no statements');
  return run;
}

/** Runs a statement on the connection of a transaction. Throws the same errors as the ORM. */
export function runOn(
  sequelize: Sequelize,
  connection: object,
  ...statement: Parameters<Read>
): Promise<object[]> {
  return directRunOf(sequelize)(connection, ...statement).catch((error) => {
    throw asOfOrm(sequelize, connection, error);
  });
}

/** The error that the ORM would throw. */
function asOfOrm(sequelize: Sequelize, connection: object, error: Error): Error {
  // Sequelize's types omit its dialect.
  const { dialect } = sequelize as Sequelize & {
    dialect: { Query: new (...of: object[]) => { formatError(error: Error): Error } };
  };
  return new dialect.Query(connection, sequelize, {}).formatError(error);
}
