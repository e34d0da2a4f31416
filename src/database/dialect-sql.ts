import { dialectOfDatabase } from './select.ts';

// The SQL differences between the databases, for conditions on text and JSON.

/** The database that the SQL is for. */
export type Dialect = 'sqlite' | 'postgres';

/** The text at a path in a JSON value; NULL if there is none. An empty path is the whole value. */
export function textAt(dialect: Dialect, json: string, path: string[]): string {
  if (dialect === 'postgres') return `(${json} #>> '{${path.map((key) => `"${key}"`).join(',')}}')`;
  return path.length === 0 ? json : `json_extract(${json}, '${pointer(path)}')`;
}

/** The elements of the list at the path, as rows `e(value)` in the order of `e.key`. */
export function elementsAt(dialect: Dialect, json: string, path: string[]): string {
  if (dialect === 'sqlite') return `json_each(${json}, '${pointer(path)}') e`;
  const list = path.map((key) => ` -> '${key}'`).join('');
  return `jsonb_array_elements(${json}${list}) WITH ORDINALITY e(value, key)`;
}

/** The texts of a group with commas between, in any order, without NULL; NULL if there are none. */
export function joinedTexts(dialect: Dialect, text: string): string {
  return dialect === 'postgres' ? `string_agg(${text}, ',')` : `group_concat(${text}, ',')`;
}

/** The comparison of a text with a parameter, by code points. NULL if the text is NULL. */
export function textCondition(
  dialect: Dialect,
  text: string,
  operator: TextOperator,
  value: string,
): string {
  const postgres = dialect === 'postgres';
  const given = postgres ? `${value}::text` : value;
  // Not LIKE, which ignores case on SQLite for every attribute, and has wildcards to escape.
  switch (operator) {
    case 'co':
      return postgres ? `strpos(${text}, ${given}) > 0` : `instr(${text}, ${given}) > 0`;
    case 'sw':
      return postgres
        ? `starts_with(${text}, ${given})`
        : `substr(${text}, 1, length(${given})) = ${given}`;
    case 'ew':
      return postgres
        ? `right(${text}, length(${given})) = ${given}`
        : `substr(${text}, length(${text}) - length(${given}) + 1) = ${given}`;
    default:
      return `${inByteOrder(text, dialect)} ${signs[operator]} ${given}`;
  }
}

/** The comparison operators of texts: those of SQL, and contains, starts with, ends with. */
export type TextOperator = keyof typeof signs | 'co' | 'sw' | 'ew';

/** The comparison operators in SQL. */
export const signs = {
  eq: '=',
  ne: '<>',
  gt: '>',
  ge: '>=',
  lt: '<',
  le: '<=',
} as const;

function pointer(path: string[]): string {
  return ['$', ...path.map((key) => `"${key}"`)].join('.');
}

/** The text, compared and sorted by its bytes, as an index of the schema has it. */
export function inByteOrder(text: string, dialect = dialectOfDatabase()): string {
  return dialect === 'postgres' ? `${text} COLLATE "C"` : text;
}

/** The parameter of an instant: the expression, and the value in the form that the column stores. */
export function instantParameter(
  dialect: Dialect,
  instant: Date,
  bind: (value: string) => string,
): string {
  const text = instant.toISOString();
  // The format in which Sequelize stores times on SQLite. These texts sort chronologically.
  return dialect === 'postgres'
    ? `${bind(text)}::timestamptz`
    : bind(text.replace('T', ' ').replace('Z', ' +00:00'));
}
