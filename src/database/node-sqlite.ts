import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { watchCommits } from './sqlite-checkpoints.ts';
import {
  bindable,
  createFile,
  type OpenConnection,
  type SqliteConnection,
  type SqliteOptions,
  type SqlParameters,
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
      // This copies each row: the driver's rows have no prototype, and callers may expect one.
      perform(sql, () =>
        statement(sql)
          .all(...bound(parameters))
          .map((row) => ({ ...row })),
      ),
    run: (sql, parameters) =>
      perform(sql, () => {
        const { lastInsertRowid, changes } = statement(sql).run(...bound(parameters));
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

function statements(database: DatabaseSync): (sql: string) => StatementSync {
  const kept = new Map<string, StatementSync>();
  return (sql) => {
    const statement = kept.get(sql) ?? database.prepare(sql);
    // Sequelize passes the whole bind object, even parameters that the statement does not use.
    statement.setAllowUnknownNamedParameters(true);
    kept.delete(sql);
    kept.set(sql, statement);
    const oldest = kept.keys().next();
    if (kept.size > keptStatements && !oldest.done) kept.delete(oldest.value);
    return statement;
  };
}

function bound(parameters: SqlParameters): [Record<string, SQLInputValue>, ...SQLInputValue[]] {
  if (isList(parameters)) return [{}, ...parameters.map(bindable)];
  return [
    Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, bindable(value)])),
  ];
}

// Array.isArray does not narrow readonly arrays.
function isList(parameters: SqlParameters): parameters is readonly unknown[] {
  return Array.isArray(parameters);
}
