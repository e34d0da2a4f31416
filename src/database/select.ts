import { QueryTypes, type Sequelize } from 'sequelize';
import { isInTransaction, transaction } from './transaction.ts';

// Plain SQL with `$1` parameters, for what runs so often that the ORM would be the cost. Rows are otherwise written
// and read by the models. Table and column names in a statement come from the code, never from a caller's data.

/** Reads by plain SQL with `$1` parameters, outside of transactions. */
type Read = (sql: string, bind: readonly unknown[], how?: { prepared: true }) => Promise<object[]>;

/** Reads by a query that is given up after so many milliseconds: null then. */
type ReadInTime = (
  query: { sql: string; bind: readonly unknown[] },
  milliseconds: number,
) => Promise<object[] | null>;

const reads = new WeakMap<Sequelize, Read>();
const readsInTime = new WeakMap<Sequelize, ReadInTime>();
let served: Sequelize | undefined;

/** Makes the database the one that these statements ask. */
export function serveStatements(sequelize: Sequelize): void {
  served = sequelize;
}

/** Says how this database is read past Sequelize, which costs more than the query that runs at every request. */
export function readDirectly(sequelize: Sequelize, read: Read): void {
  reads.set(sequelize, read);
}

/** How this database is read past Sequelize, or undefined where its driver cannot. */
export function directReadOf(sequelize: Sequelize): Read | undefined {
  return reads.get(sequelize);
}

/** Says how this database gives a query up. */
export function limitReads(sequelize: Sequelize, read: ReadInTime): void {
  readsInTime.set(sequelize, read);
}

/** How this database gives a query up, or undefined where the thread of `selectWithin` does it. */
export function readInTimeOf(sequelize: Sequelize): ReadInTime | undefined {
  return readsInTime.get(sequelize);
}

/** The database that is asked. */
export function servedDatabase(): Sequelize {
  if (served === undefined) throw new Error('no database is open');
  return served;
}

/** What the open database is. */
export function dialectOfDatabase(): 'sqlite' | 'postgres' {
  return served?.getDialect() === 'sqlite' ? 'sqlite' : 'postgres';
}

/**
 * The rows of a query, or those that a statement returns, which needs a transaction.
 * `prepared` is for a text that is always the same: a connection to PostgreSQL plans it once.
 */
export async function select<Row extends object>(
  sql: string,
  bind: unknown[],
  how?: { prepared: true },
): Promise<Row[]> {
  const sequelize = servedDatabase();
  const read = isInTransaction() ? undefined : directReadOf(sequelize);
  // The caller wrote the query and so knows its rows.
  if (read) return (await read(sql, bind, how)) as Row[];
  // Sequelize returns no rows of a statement that starts with "INSERT INTO".
  const returning = sql.replace(/^INSERT INTO/, 'INSERT\nINTO');
  return sequelize.query<Row>(returning, { bind, type: QueryTypes.SELECT });
}

/** Runs a statement inside a transaction; a violated index is the same error as the ORM's. */
export async function execute(sql: string, bind: unknown[]): Promise<void> {
  await servedDatabase().query(sql, { bind });
}

/** Writes one row as `execute` does. Objects are written as JSON. */
export async function insertRow(table: string, row: Record<string, unknown>): Promise<void> {
  const { sql, bind } = insertion(table, row);
  await execute(sql, bind);
}

/** The statement of `insertRow`, for a caller that adds to it. */
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
 * Runs statements that do not depend on each other, all with these parameters, and answers what the first returns.
 * On PostgreSQL they are one round trip, in no order, each seeing what was there before them.
 */
export async function selectTogether<Row extends object>(
  [first, ...others]: [string, ...string[]],
  bind: unknown[],
): Promise<Row[]> {
  if (dialectOfDatabase() === 'postgres') {
    const parts = others.map((sql, at) => `other_${at} AS (${sql})`);
    return select<Row>(
      `WITH ${[`first AS (${first})`, ...parts].join(', ')} SELECT * FROM first`,
      bind,
    );
  }
  const rows = await alone<Row>(first, bind);
  for (const sql of others) await alone(sql, bind);
  return rows;
}

/** With only the parameters that it names: SQLite takes no others. */
function alone<Row extends object>(sql: string, bind: unknown[]): Promise<Row[]> {
  const own: unknown[] = [];
  const renumbered = sql.replace(/\$(\d+)/g, (_, place) => `$${own.push(bind[Number(place) - 1])}`);
  return select<Row>(renumbered, own);
}

/** Keeps the statistics that SQLite plans by, from a bounded sample of each table. PostgreSQL does so by itself. */
export async function refreshStatistics(): Promise<void> {
  // 0x02 analyzes what has grown, 0x10000 looks at all tables: the writer does not know what the readers ask.
  if (dialectOfDatabase() === 'sqlite')
    await transaction(() => execute('PRAGMA optimize = 0x10002', []));
}
