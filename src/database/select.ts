import type { Sequelize } from 'sequelize';
import { type AnyReading, type Reading, readColumns } from './columns.ts';
import { directOf, runOn, type Statement } from './direct.ts';
import { isInTransaction, onOpenConnection, transaction } from './transaction.ts';

// Plain SQL with `$1` parameters, for frequent queries and for queries that the ORM cannot express.
// The ORM can cost more than a short query. Table and column names come from the code, never from
// input.

let served: Sequelize | undefined;

/** Makes this database the one that these functions use. */
export function serveStatements(sequelize: Sequelize): void {
  served = sequelize;
}

/** The open database. */
export function servedDatabase(): Sequelize {
  if (served === undefined) throw new Error('no database is open');
  return served;
}

/** The dialect of the open database. */
export function dialectOfDatabase(): 'sqlite' | 'postgres' {
  return served?.getDialect() === 'sqlite' ? 'sqlite' : 'postgres';
}

/**
 * The rows of a query. A statement that writes and returns rows needs a transaction. Use `prepared`
 * for constant SQL: each connection to PostgreSQL then plans it only once. Name the columns with
 * flags, times and JSON in `columns`.
 */
export function select<Row extends object>(
  sql: string,
  bind: unknown[],
  ...[how]: Reading<Row>
): Promise<Row[]> {
  return selectAs<Row>(sql, bind, how);
}

/** `select`, for functions that are given `how` and leave its check to their callers. */
export async function selectAs<Row extends object>(
  sql: string,
  bind: unknown[],
  { prepared, columns }: AnyReading = {},
): Promise<Row[]> {
  const sequelize = servedDatabase();
  const how = prepared && ({ prepared } as const);
  const rows = isInTransaction()
    ? await runInTransaction(sequelize, sql, bind, how)
    : await directOf(sequelize).read(sql, bind, how);
  // The caller wrote the query, so it knows the row type.
  return readColumns(rows, columns) as Row[];
}

/** Runs a statement in the open transaction. A violated unique index throws the ORM's error. */
export async function execute(
  sql: string,
  bind: unknown[],
  how?: { prepared: true },
): Promise<void> {
  await runInTransaction(servedDatabase(), sql, bind, how);
}

function runInTransaction(sequelize: Sequelize, ...statement: Statement): Promise<object[]> {
  return onOpenConnection((connection) => runOn(sequelize, connection, ...statement));
}

/** Inserts one row inside a transaction. Objects are stored as JSON. */
export async function insertRow(table: string, row: Record<string, unknown>): Promise<void> {
  const { sql, bind } = insertion(table, row);
  await execute(sql, bind, { prepared: true });
}

/**
 * The maximum number of parameters of a statement. Fewer on SQLite, which compares each with all
 * others.
 */
function maxParameters(): number {
  return dialectOfDatabase() === 'sqlite' ? 500 : 30_000;
}

/** Inserts rows with the same columns inside a transaction, in as few statements as possible. */
export async function insertRows(table: string, rows: Record<string, unknown>[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  for (const some of chunksOf(rows, Math.floor(maxParameters() / Math.max(1, columns.length)))) {
    let place = 0;
    const values = some.map(() => `(${columns.map(() => `$${++place}`).join(', ')})`);
    await execute(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values.join(', ')}`,
      some.flatMap((row) => columns.map((column) => plain(row[column]))),
    );
  }
}

/**
 * Runs a query for many values, in as few statements as possible. `list` contains their parameters.
 * `next` is the first parameter of `more`.
 */
export function selectAmong<Row extends object>(
  values: readonly string[],
  sql: (list: string, next: string) => string,
  ...[more = [], how]: [more?: unknown[], ...Reading<Row>]
): Promise<Row[]> {
  return selectAmongAs<Row>(values, sql, more, how);
}

/** `selectAmong`, for functions that are given `how` and leave its check to their callers. */
export async function selectAmongAs<Row extends object>(
  values: readonly string[],
  sql: (list: string, next: string) => string,
  more: unknown[],
  how?: AnyReading,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const some of chunksOf(values, maxParameters() - more.length)) {
    const list = some.map((_, at) => `$${at + 1}`).join(', ');
    rows.push(...(await selectAs<Row>(sql(list, `$${some.length + 1}`), [...some, ...more], how)));
  }
  return rows;
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** The statement of `insertRow`, for callers that extend it. */
export function insertion(
  table: string,
  row: Record<string, unknown>,
): { sql: string; bind: unknown[] } {
  const columns = Object.keys(row);
  const places = columns.map((_, at) => `$${at + 1}`);
  return {
    sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`,
    bind: Object.values(row).map(plain),
  };
}

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return JSON.stringify(value);
}

/**
 * Runs independent statements with the same parameters, and returns the rows of the first. On
 * PostgreSQL, they run in one round trip, in any order, and none sees the changes of another.
 */
export async function selectTogether<Row extends object>(
  [first, ...others]: [string, ...string[]],
  bind: unknown[],
  ...[how]: Reading<Row>
): Promise<Row[]> {
  if (dialectOfDatabase() === 'postgres') {
    const parts = others.map((sql, at) => `other_${at} AS (${sql})`);
    return selectAs<Row>(
      `WITH ${[`first AS (${first})`, ...parts].join(', ')} SELECT * FROM first`,
      bind,
      how,
    );
  }
  const rows = await alone<Row>(first, bind, how);
  for (const sql of others) await alone(sql, bind);
  return rows;
}

/** Runs the statement with only the parameters that it uses: SQLite rejects others. */
function alone<Row extends object>(sql: string, bind: unknown[], how?: AnyReading): Promise<Row[]> {
  const own: unknown[] = [];
  const renumbered = sql.replace(/\$(\d+)/g, (_, place) => `$${own.push(bind[Number(place) - 1])}`);
  return selectAs<Row>(renumbered, own, how);
}

/** Updates SQLite's planner statistics. PostgreSQL does this itself. */
export async function refreshStatistics(): Promise<void> {
  // 0x02 analyzes tables that have grown, and 0x10 limits the sample. 0x10000 checks all tables,
  // because the writer does not know the readers' queries.
  if (dialectOfDatabase() === 'sqlite')
    await transaction(() => execute('PRAGMA optimize = 0x10012', []));
}
