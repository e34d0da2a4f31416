import type { Columns, Kinds } from './columns.ts';

/**
 * More columns of the account `a`, which an operation has read in the statement that checks the
 * credential. It saves a frequent request one statement.
 */
export interface Along<Row extends object> {
  columns: string[];
  joins: string;
  /** `ORDER BY`, or nothing. */
  order: string;
  kinds: Kinds<Row> & Columns;
}

/** Nothing more. */
export const nothingAlong: Along<object> = { columns: [], joins: '', order: '', kinds: {} };

/** The rows that were read along, and the definition by which they were read. */
export interface ReadAlong {
  by: Along<object>;
  rows: object[];
}

/** The rows that were read along by this definition; null if they were not. */
export function rowsAlong<Row extends object>(
  { along }: { along?: ReadAlong },
  by: Along<Row>,
): Row[] | null {
  // The definition names the columns of the row.
  return along?.by === by ? (along.rows as Row[]) : null;
}
