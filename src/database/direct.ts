import type { Sequelize } from 'sequelize';

/** Reads with plain SQL and `$1` parameters, outside transactions. */
type Read = (sql: string, bind: readonly unknown[], how?: { prepared: true }) => Promise<object[]>;

/** A statement: plain SQL, and its parameters. */
export type Statement = Parameters<Read>;

/**
 * How the driver of a dialect runs statements, bypassing Sequelize. Sequelize costs more than the
 * statements that run at every request.
 */
export interface Direct {
  read: Read;
  /** Runs a statement on the connection of a transaction. */
  run(connection: object, ...statement: Statement): Promise<object[]>;
  /**
   * Returns null if the query takes longer than `milliseconds`. If this function is absent, the
   * reader thread of `selectWithin` runs the query.
   */
  readInTime?(
    query: { sql: string; bind: readonly unknown[] },
    milliseconds: number,
  ): Promise<object[] | null>;
}

const directs = new WeakMap<Sequelize, Direct>();

/** Sets the functions that run statements directly. */
export function runDirectly(sequelize: Sequelize, direct: Direct): void {
  directs.set(sequelize, direct);
}

/** The functions that run statements directly. */
export function directOf(sequelize: Sequelize): Direct {
  const direct = directs.get(sequelize);
  if (direct === undefined) throw new Error('no functions are set to run statements directly');
  return direct;
}

/** Runs a statement on the connection of a transaction. Throws the same errors as the ORM. */
export function runOn(
  sequelize: Sequelize,
  connection: object,
  ...statement: Statement
): Promise<object[]> {
  return directOf(sequelize)
    .run(connection, ...statement)
    .catch((error) => {
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
