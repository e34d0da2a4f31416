import type { Reading } from './columns.ts';
import { type How, type Kind, locks, noteHolds } from './hold-order.ts';
import { dialectOfDatabase, selectAmongAs, selectAs } from './select.ts';

// Queries in plain SQL that hold the rows that they read.

/** A table of a query, whose rows are held. */
interface Held<Row> {
  kind: Kind;
  /** The table's alias in the query. Absent if the query has only one table. */
  of?: string;
  how: How;
  id: (row: Row) => string;
}

/** The rows of a query of one or more tables, held. `sql` ends where the locks belong. */
export async function holdRows<Row extends object>(
  [sql, bind, how]: [sql: string, bind: unknown[], ...Reading<Row>],
  ...held: Held<Row>[]
): Promise<Row[]> {
  const found = await selectAs<Row>(sql + clauseOf(held), bind, how);
  for (const { kind, how: strength, id } of held) noteHolds(kind, found.map(id), strength);
  return found;
}

/** Like `holdRows`, for a query by many values, which this sorts. */
export async function holdAmong<Row extends object>(
  [values, sql, more = [], how]: [
    values: readonly string[],
    sql: (list: string, next: string) => string,
    more?: unknown[],
    ...Reading<Row>,
  ],
  ...held: Held<Row>[]
): Promise<Row[]> {
  const lock = clauseOf(held);
  const found = await selectAmongAs<Row>(
    values.toSorted(),
    (list, next) => sql(list, next) + lock,
    more,
    how,
  );
  for (const { kind, how, id } of held) noteHolds(kind, found.map(id), how);
  return found;
}

function clauseOf<Row>(held: Held<Row>[]): string {
  if (!locksRows()) return '';
  return held
    .map(({ of, how }) => ` FOR ${locks[how]}${of === undefined ? '' : ` OF ${of}`}`)
    .join('');
}

/** Whether the database has row locks. SQLite has one writer, so it does not need them. */
export function locksRows(): boolean {
  return dialectOfDatabase() === 'postgres';
}

/** The end of a query that keeps the rows of this table, which are without a rank there. */
export function keeping(table: string): string {
  return locksRows() ? `FOR ${locks.kept} OF ${table}` : '';
}

/** The end of a query that holds rows as `whole`, and leaves out those that others hold. */
export function passing(): string {
  return locksRows() ? `FOR ${locks.whole} SKIP LOCKED` : '';
}
