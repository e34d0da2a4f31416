import type { PlainConnection, PlainRow } from './plain-connection.ts';
import type { ColumnKind, Table } from './tables.ts';

// Rows are copied in the form in which SQLite stores them: times and JSON as text, flags as 0 and
// 1. PostgreSQL converts them when it reads and writes.

/** The values of a row, in the order of the table's columns. */
export type Values = unknown[];

const time = "'YYYY-MM-DD HH24:MI:SS.MS'";
const fromPostgres: Record<ColumnKind, (column: string) => string> = {
  text: (column) => column,
  uuid: (column) => column,
  integer: (column) => column,
  number: (column) => column,
  flag: (column) => `${column}::integer`,
  time: (column) => `to_char(${column} AT TIME ZONE 'UTC', ${time}) || ' +00:00'`,
  json: (column) => `${column}::text`,
  jsonb: (column) => `${column}::text`,
};
const typeOnPostgres: Record<ColumnKind, string> = {
  text: 'text',
  uuid: 'uuid',
  integer: 'integer',
  number: 'double precision',
  flag: 'boolean',
  time: 'timestamptz',
  json: 'json',
  jsonb: 'jsonb',
};
/**
 * The maximum number of rows of one INSERT on SQLite, which allows 32,766 values in a statement.
 */
const rowsTogether = 100;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
/** The names as a list for SQL. */
export const list = (names: string[]) => names.map(quoted).join(', ');
const places = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `$${from + at}`).join(', ');

/** Reads the next rows after a key, in the order in which this database sorts keys. */
export async function readBatch(
  { dialect, all }: PlainConnection,
  { name, columns, key }: Table,
  { after, limit }: { after: Values | null; limit: number },
): Promise<{ rows: Values[]; last: Values | null }> {
  const selected = columns.map(({ name: column, kind }) =>
    dialect === 'sqlite'
      ? quoted(column)
      : `${fromPostgres[kind](quoted(column))} AS ${quoted(column)}`,
  );
  const where = after === null ? '' : `WHERE (${list(key)}) > (${places(1, key.length)})`;
  const keys = key.map((column) => `${quoted(name)}.${quoted(column)}`).join(', ');
  const found = await all(
    `SELECT ${selected.join(', ')} FROM ${quoted(name)} ${where} ORDER BY ${keys} LIMIT ${limit}`,
    after ?? [],
  );
  const valuesOf = (row: PlainRow, names: string[]) => names.map((column) => row[column]);
  const last = found.at(-1);
  return {
    rows: found.map((row) =>
      valuesOf(
        row,
        columns.map((column) => column.name),
      ),
    ),
    last: last === undefined ? null : valuesOf(last, key),
  };
}

/** Inserts all rows, or none. */
export async function writeBatch(
  connection: PlainConnection,
  table: Table,
  rows: Values[],
): Promise<void> {
  const { dialect, all } = connection;
  const into = `INSERT INTO ${quoted(table.name)} (${list(table.columns.map(({ name }) => name))})`;
  if (dialect === 'postgres') {
    const arrays = table.columns.map(({ kind }, at) => `$${at + 1}::${typeOnPostgres[kind]}[]`);
    const values = table.columns.map((_, at) => rows.map((row) => row[at]));
    await all(`${into} SELECT * FROM unnest(${arrays.join(', ')})`, values);
    return;
  }
  await inTransaction(connection, async () => {
    for (let at = 0; at < rows.length; at += rowsTogether) {
      const some = rows.slice(at, at + rowsTogether);
      const each = some.map(() => `(${table.columns.map(() => '?').join(', ')})`);
      await all(`${into} VALUES ${each.join(', ')}`, some.flat());
    }
  });
}

/** Converts a value as `writeBatch` does on PostgreSQL. Throws if that fails. */
export async function tryValue(
  { all }: PlainConnection,
  { kind }: Pick<Table['columns'][number], 'kind'>,
  value: unknown,
): Promise<void> {
  await all(`SELECT $1::${typeOnPostgres[kind]}`, [value]);
}

/** The number of rows in the table. */
export async function countRows({ all }: PlainConnection, { name }: Table): Promise<number> {
  const [row] = await all(`SELECT count(*) AS n FROM ${quoted(name)}`);
  return Number(row?.['n']);
}

/** Deletes all rows of these tables. */
export async function emptyTables(connection: PlainConnection, tables: Table[]): Promise<void> {
  if (connection.dialect === 'postgres') {
    await connection.all(`TRUNCATE ${list(tables.map(({ name }) => name))}`);
    return;
  }
  await inTransaction(connection, async () => {
    for (const { name } of tables.toReversed()) await connection.all(`DELETE FROM ${quoted(name)}`);
  });
}

async function inTransaction<T>(
  { all }: Pick<PlainConnection, 'all'>,
  work: () => Promise<T>,
): Promise<T> {
  await all('BEGIN');
  try {
    const result = await work();
    await all('COMMIT');
    return result;
  } catch (error) {
    await all('ROLLBACK').catch(() => {});
    throw error;
  }
}
