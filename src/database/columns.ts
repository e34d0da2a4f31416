// Rows of plain SQL have one form on both databases. PostgreSQL's driver returns flags, times and
// JSON as such. SQLite stores them as numbers and text, and does not know which columns they are.

/** The kinds of columns that SQLite returns in another form than PostgreSQL. */
type Kind = keyof typeof readers;

/** The kind of a column of this type; never for text, numbers, and values that are not read. */
type KindOf<Value> = unknown extends Value
  ? never
  : NonNullable<Value> extends boolean
    ? 'flag'
    : NonNullable<Value> extends Date
      ? 'time'
      : NonNullable<Value> extends object
        ? 'json'
        : never;

/** The kinds of those columns of a row that are not text or numbers. */
export type Kinds<Row> = {
  [Column in keyof Row as KindOf<Row[Column]> extends never ? never : Column]: KindOf<Row[Column]>;
};

/** How a query is run: `prepared`, and `columns` if the row has flags, times or JSON. */
export type Reading<Row> = keyof Kinds<Row> extends never
  ? [how?: { prepared?: true }]
  : [how: { prepared?: true; columns: Kinds<Row> }];

/** `Kinds` of a row that is not known yet. */
export type Columns = Record<string, Kind>;

/** `Reading` of a row that is not known yet. */
export interface AnyReading {
  prepared?: true;
  columns?: Columns;
}

const readers = {
  flag: (stored: unknown) =>
    stored === null || typeof stored === 'boolean' ? stored : stored === 1,
  time: (stored: unknown) => (typeof stored === 'string' ? new Date(stored) : stored),
  json: (stored: unknown): unknown => (typeof stored === 'string' ? JSON.parse(stored) : stored),
};

/** Gives the rows their form, in place. */
export function readColumns(rows: object[], columns: Columns = {}): object[] {
  const kinds = Object.entries(columns);
  for (const row of kinds.length === 0 ? [] : rows) {
    // A row of a driver has a value for each column name.
    const values = row as Record<string, unknown>;
    for (const [column, kind] of kinds) values[column] = readers[kind](values[column]);
  }
  return rows;
}
