import type { FilterOperator } from './filter-value.ts';

// The SQL differences of the two databases, for conditions on JSON. Every expression is true or
// false, never NULL, so that NOT works as in a filter.

/** The database that conditions are written for. */
export type Dialect = 'sqlite' | 'postgres';

/** The text at the path of a JSON value, NULL if there is none. Without a path, the whole value. */
export function textAt(dialect: Dialect, json: string, path: string[]): string {
  if (dialect === 'postgres') return `(${json} #>> '{${path.map((key) => `"${key}"`).join(',')}}')`;
  return path.length === 0 ? json : `json_extract(${json}, '${pointer(path)}')`;
}

/**
 * The elements of the list at the path of a JSON value, as rows `e(value)` in the order of `e.key`.
 */
export function elementsAt(dialect: Dialect, json: string, path: string[]): string {
  if (dialect === 'sqlite') return `json_each(${json}, '${pointer(path)}') e`;
  const list = path.map((key) => ` -> '${key}'`).join('');
  return `jsonb_array_elements(${json}${list}) WITH ORDINALITY e(value, key)`;
}

/** The comparison of a text with a parameter, NULL without a text. Ordered by code points. */
export function textCondition(
  dialect: Dialect,
  text: string,
  operator: FilterOperator,
  value: string,
): string {
  const postgres = dialect === 'postgres';
  const given = postgres ? `${value}::text` : value;
  // Not LIKE: on SQLite it ignores case for every attribute, and wildcards would need escaping.
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
      return `${postgres ? `${text} COLLATE "C"` : text} ${signs[operator]} ${given}`;
  }
}

/** The comparison operators in SQL. */
export const signs: Readonly<Record<Exclude<FilterOperator, 'co' | 'sw' | 'ew'>, string>> = {
  eq: '=',
  ne: '<>',
  gt: '>',
  ge: '>=',
  lt: '<',
  le: '<=',
};

function pointer(path: string[]): string {
  return ['$', ...path.map((key) => `"${key}"`)].join('.');
}
