import { columnOf, findSub, type Names } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { searchKey, searchPath } from '../../foundation/scim-user/search.ts';
import type { FilterOperator } from './filter-tokens.ts';

// The SQL differences between the databases, for conditions on JSON.

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

/** The comparison of a text with a parameter, by code points. NULL if the text is NULL. */
export function textCondition(
  dialect: Dialect,
  text: string,
  operator: FilterOperator,
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

/**
 * The sort key as an SQL expression over `scim_records r` or `scim_groups r`. Of several values, it
 * is the primary or first value (RFC 7644 §3.4.2.3). Rows without a value have NULL, and come last
 * in ascending order. 400 `invalidPath` for an attribute that cannot be a sort key.
 */
export function sortExpression(sortBy: string, dialect: Dialect, names: Names): string {
  const target = names.findTarget(sortBy.trim());
  const attribute = target?.attribute;
  const sub = target?.sub ?? (attribute?.type === 'complex' ? findSub(attribute, 'value') : null);
  const named = sub ?? attribute;
  if (
    target === null ||
    attribute === undefined ||
    named === undefined ||
    !named.searchable ||
    named.type === 'complex' ||
    attribute.column === 'group' ||
    attribute.column === 'member'
  ) {
    throw scimRefusal(
      400,
      'invalidPath',
      `${names.kind}s cannot be sorted by "${sortBy.slice(0, 100)}".`,
    );
  }
  const column = columnOf({ attribute, sub });
  if (column !== null && column !== 'email' && column !== 'group' && column !== 'member')
    return columns[column];
  const path = sub === null ? [] : [searchKey(sub)];
  const text = attribute.multiValued
    ? firstElement(dialect, searchPath(attribute), path)
    : textAt(dialect, 'r.search', [...searchPath(attribute), ...path]);
  return dialect === 'postgres' ? `${text} COLLATE "C"` : text;
}

const columns = {
  id: 'r.id',
  userName: 'r.user_name_canonical',
  externalId: 'r.external_id',
  active: 'r.active',
  created: 'r.created_at',
  lastModified: 'r.modified_at',
  displayName: 'r.display_name_canonical',
  resourceType: 'r.organization_id',
};

function firstElement(dialect: Dialect, list: string[], path: string[]): string {
  const primary = `coalesce(${textAt(dialect, 'e.value', ['primary'])} = 'true', false)`;
  const order = path.length === 0 ? 'e.key' : `${primary} desc, e.key`;
  const elements = elementsAt(dialect, 'r.search', list);
  return `(select ${textAt(dialect, 'e.value', path)} from ${elements} order by ${order} limit 1)`;
}
