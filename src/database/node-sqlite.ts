import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { watchCommits } from './sqlite-checkpoints.ts';
import {
  bindable,
  createFile,
  hasPlaces,
  type OpenConnection,
  type Placed,
  placed,
  type SqliteConnection,
  type SqliteOptions,
  type SqlParameters,
  valuesOf,
  whenFree,
} from './sqlite-connection.ts';

const keptStatements = 128;

/** Opens connections with Node's built-in SQLite. */
export const openNodeSqlite: OpenConnection = async (options, writer) => {
  createFile(options.file);
  const database = new DatabaseSync(options.file, {
    timeout: 0,
    enableForeignKeyConstraints: options.foreignKeys,
  });
  try {
    await whenFree(() => database.exec('PRAGMA journal_mode = WAL'), options.patience);
    database.exec('PRAGMA synchronous = FULL');
    if (!writer) database.exec('PRAGMA query_only = ON');
  } catch (error) {
    database.close();
    throw error;
  }
  return connection(database, options);
};

function connection(database: DatabaseSync, { file, patience }: SqliteOptions): SqliteConnection {
  const statement = statements(database);
  const checkpoints = watchCommits(database, file);
  const perform = <T>(sql: string, work: () => T) =>
    whenFree(() => (/^COMMIT\b/i.test(sql) ? checkpoints.around(work) : work()), patience);
  let synced = true;
  return {
    all: (sql, parameters) =>
      perform(sql, () => {
        const prepared = statement(sql, parameters);
        const rows = rowsOf(prepared.statement, bound(prepared, parameters));
        // SQLite prepares again by itself after another process has added a column.
        if (rows[0] !== undefined && rows[0].length !== prepared.columns.length)
          prepared.columns = columnsOf(prepared.statement);
        const { columns } = prepared;
        return rows.map((values) => {
          const row: Record<string, unknown> = {};
          for (const [at, column] of columns.entries()) row[column] = values[at];
          return row;
        });
      }),
    run: (sql, parameters) =>
      perform(sql, () => {
        const prepared = statement(sql, parameters);
        const { lastInsertRowid, changes } = prepared.statement.run(...bound(prepared, parameters));
        return { lastID: Number(lastInsertRowid), changes: Number(changes) };
      }),
    setSync: async (wanted) => {
      if (wanted !== synced) database.exec(`PRAGMA synchronous = ${wanted ? 'FULL' : 'NORMAL'}`);
      synced = wanted;
    },
    inTransaction: () => database.isTransaction,
    rollback: async () => {
      if (database.isTransaction) database.exec('ROLLBACK');
    },
    close: async () => {
      await checkpoints.end();
      database.close();
    },
  };
}

interface Prepared extends Placed {
  statement: StatementSync;
  columns: string[];
}

/** Prepares each statement once, and keeps the last ones. */
function statements(database: DatabaseSync): (sql: string, of: SqlParameters) => Prepared {
  const kept = new Map<string, Prepared>();
  const prepare = (text: Placed): Prepared => {
    const statement = database.prepare(text.sql);
    // Sequelize passes the whole bind object, even parameters that the statement does not use.
    statement.setAllowUnknownNamedParameters(true);
    // The driver's own objects are slower, and have no prototype.
    statement.setReturnArrays(true);
    return { ...text, statement, columns: columnsOf(statement) };
  };
  return (sql, parameters) => {
    const isPlaced = hasPlaces(parameters);
    const key = isPlaced ? sql : `by name: ${sql}`;
    const prepared = kept.get(key) ?? prepare(isPlaced ? placed(sql) : { sql, numbers: [] });
    kept.delete(key);
    kept.set(key, prepared);
    const oldest = kept.keys().next();
    if (kept.size > keptStatements && !oldest.done) kept.delete(oldest.value);
    return prepared;
  };
}

function columnsOf(statement: StatementSync): string[] {
  return statement.columns().map(({ name }) => name);
}

/** The rows, as lists of values. */
function rowsOf(statement: StatementSync, values: Values): unknown[][] {
  // The types do not know `setReturnArrays`.
  return statement.all(...values) as unknown as unknown[][];
}

type Values = [Record<string, SQLInputValue>, ...SQLInputValue[]];

const noNames = {};

function bound(prepared: Prepared, parameters: SqlParameters): Values {
  if (hasPlaces(parameters)) return [noNames, ...valuesOf(prepared, parameters)];
  return [
    Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, bindable(value)])),
  ];
}
