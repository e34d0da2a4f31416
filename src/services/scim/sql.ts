// What the two databases say differently, for conditions on JSON. Every expression is true or false, never NULL, so
// that NOT means what it does in a filter.

/** A database that conditions are written for. */
export type Dialect = 'sqlite' | 'postgres';

/** The text at the path of a JSON value, NULL when there is none; the whole value with no path. */
export function textAt(dialect: Dialect, json: string, path: string[]): string {
  if (dialect === 'postgres') return `(${json} #>> '{${path.map((key) => `"${key}"`).join(',')}}')`;
  return path.length === 0 ? json : `json_extract(${json}, '${pointer(path)}')`;
}

/** The elements of the list at the path of a JSON value, as rows `e(value)` in the order of `e.key`. */
export function elementsAt(dialect: Dialect, json: string, path: string[]): string {
  if (dialect === 'sqlite') return `json_each(${json}, '${pointer(path)}') e`;
  const list = path.map((key) => ` -> '${key}'`).join('');
  return `jsonb_array_elements(${json}${list}) WITH ORDINALITY e(value, key)`;
}

/** The operators on texts; ordered by code points. Not LIKE: on SQLite it takes letters of any case for equal. */
export function textCondition(dialect: Dialect, text: string, operator: string, value: string): string {
  const given = dialect === 'postgres' ? `${value}::text` : value;
  const bytewise = dialect === 'postgres' ? `${text} COLLATE "C"` : text;
  const conditions: Record<string, string> =
    dialect === 'postgres'
      ? {
          co: `strpos(${text}, ${given}) > 0`,
          sw: `starts_with(${text}, ${given})`,
          ew: `right(${text}, length(${given})) = ${given}`,
        }
      : {
          co: `instr(${text}, ${given}) > 0`,
          sw: `substr(${text}, 1, length(${given})) = ${given}`,
          ew: `substr(${text}, -length(${given})) = ${given}`,
        };
  return conditions[operator] ?? `${bytewise} ${signs[operator]} ${given}`;
}

/** The SQL comparison of an operator that orders. */
export const signs: Readonly<Record<string, string>> = {
  eq: '=',
  gt: '>',
  ge: '>=',
  lt: '<',
  le: '<=',
};

function pointer(path: string[]): string {
  return ['$', ...path.map((key) => `"${key}"`)].join('.');
}
