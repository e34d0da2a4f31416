import {
  type Dialect,
  elementsAt,
  instantParameter,
  signs,
  textAt,
  textCondition,
} from '../../../database/dialect-sql.ts';
import { isUuid } from '../../foundation/fields.ts';
import type { Attribute, Column } from '../../foundation/scim-user/attribute.ts';
import { columnOf, fold } from '../../foundation/scim-user/names.ts';
import { searchKey, searchPath } from '../../foundation/scim-user/search.ts';
import type { Filter } from './filter.ts';
import { emailsIn } from './filter-keys.ts';
import type { FilterOperator } from './filter-tokens.ts';

// Names and JSON paths come from the table of attributes. Values are parameters: a client's text
// never becomes SQL. Conditions are never NULL, so that NOT works as in a filter.

/** A condition on `scim_records r` or `scim_groups r`, and the values of its parameters. */
export interface Condition {
  sql: string;
  bind: unknown[];
}

interface Writing {
  dialect: Dialect;
  organization: number;
  /** Stores the value and returns its placeholder. */
  bind(value: unknown): string;
  /** Inside brackets: the JSON of an element, and the path to its sub-attributes. */
  within: { json: string; path: string[] } | null;
}

type Compare = Extract<Filter, { kind: 'compare' }>;
type Term = Compare | Extract<Filter, { kind: 'present' }>;

/** The filter as SQL. Its parameters start at `$<first>`. `$<organization>` is the organization. */
export function filterCondition(
  filter: Filter,
  { dialect, first, organization }: { dialect: Dialect; first: number; organization: number },
): Condition {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${first + values.push(value) - 1}`;
  const sql = write({ dialect, organization, bind, within: null }, filter);
  return { sql, bind: values };
}

function write(writing: Writing, filter: Filter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.filters.map((part) => write(writing, part)).join(` ${filter.kind} `)})`;
    case 'not':
      return `(not ${write(writing, filter.filter)})`;
    case 'element': {
      const byIndex = emailsIn(filter.filter).map((email) => hasEmail(writing, email));
      return `(${[...byIndex, writeElement(writing, filter.attribute, filter.filter)].join(' and ')})`;
    }
    default:
      return writeTerm(writing, filter);
  }
}

function writeElement(writing: Writing, attribute: Attribute, filter: Filter): string {
  if (attribute.multiValued)
    return someElement(writing, attribute, (within) => write(within, filter));
  const within = { json: 'r.search', path: searchPath(attribute) };
  const there = `${textAt(writing.dialect, within.json, within.path)} is not null`;
  return `(${there} and ${write({ ...writing, within }, filter)})`;
}

function someElement(
  writing: Writing,
  attribute: Attribute,
  condition: (within: Writing) => string,
): string {
  const inside = { ...writing, within: { json: 'e.value', path: [] } };
  return `exists (select 1 from ${elementsOf(writing, attribute)} where ${condition(inside)})`;
}

function elementsOf({ dialect }: Writing, attribute: Attribute): string {
  return elementsAt(dialect, 'r.search', searchPath(attribute));
}

function hasEmail({ bind, organization }: Writing, email: string): string {
  return `r.id in (select record_id from scim_emails
    where organization_id = $${organization} and value_canonical = ${bind(fold(email))})`;
}

function writeTerm(writing: Writing, term: Term): string {
  const { attribute, sub } = term.target;
  if (writing.within !== null) return writeText(writing, attribute, [searchKey(attribute)], term);
  const column = columnOf(term.target);
  if (column === 'email' && term.kind === 'compare' && term.operator === 'eq') {
    return hasEmail(writing, String(term.value));
  }
  if (column === 'group' || column === 'member') return writeLink(writing, column, term);
  if (column !== null && column !== 'email') return writeColumn(writing, column, term);
  const path = sub === null ? [] : [searchKey(sub)];
  if (!attribute.multiValued) {
    const within = { json: 'r.search', path: searchPath(attribute) };
    return writeText({ ...writing, within }, sub ?? attribute, path, term);
  }
  const some = someElement(writing, attribute, (inside) =>
    writeText(inside, sub ?? attribute, path, term),
  );
  return term.kind === 'compare' && term.operator === 'ne'
    ? `(${some} or not exists (select 1 from ${elementsOf(writing, attribute)}))`
    : some;
}

function writeLink(
  { bind, organization }: Writing,
  column: 'group' | 'member',
  term: Term,
): string {
  const [own, other] = column === 'group' ? ['record_id', 'group_id'] : ['group_id', 'record_id'];
  if (term.kind === 'present')
    return `exists (select 1 from scim_group_members where ${own} = r.id)`;
  const value = String(term.value);
  const linked = isUuid(value)
    ? `r.id in (select ${own} from scim_group_members
        where organization_id = $${organization} and ${other} = ${bind(value.toLowerCase())})`
    : 'false';
  return term.operator === 'eq' ? linked : `(not ${linked})`;
}

/** The condition on the text at this path in `within`. */
function writeText(writing: Writing, attribute: Attribute, path: string[], term: Term): string {
  const { dialect, within } = writing;
  const at = (keys: string[]) =>
    textAt(dialect, within?.json ?? 'r.search', [...(within?.path ?? []), ...keys]);
  if (term.kind === 'present') {
    const paths =
      attribute.type === 'complex'
        ? attribute.subAttributes.map((sub) => [...path, searchKey(sub)])
        : [path];
    return `(${paths.map((keys) => `coalesce(${at(keys)} <> '', false)`).join(' or ')})`;
  }
  const value = attribute.caseExact ? String(term.value) : fold(String(term.value));
  return compareText(writing, at(path), term.operator, value);
}

function compareText(
  { dialect, bind }: Writing,
  text: string,
  operator: FilterOperator,
  value: string,
): string {
  if (operator === 'ne')
    return `(not coalesce(${textCondition(dialect, text, 'eq', bind(value))}, false))`;
  return `coalesce(${textCondition(dialect, text, operator, bind(value))}, false)`;
}

type OwnColumn = Exclude<Column, 'email' | 'group' | 'member'>;

function writeColumn(writing: Writing, column: OwnColumn, term: Term): string {
  if (term.kind === 'present')
    return column === 'externalId' ? "coalesce(r.external_id <> '', false)" : 'true';
  if (column === 'active')
    return term.value === (term.operator === 'eq') ? 'r.active = true' : 'r.active = false';
  if (column === 'created' || column === 'lastModified') return writeInstant(writing, column, term);
  if (column === 'id' && term.operator === 'eq') return equalId(writing, String(term.value));
  const { sql, caseExact } = texts[column];
  const value = caseExact ? String(term.value) : fold(String(term.value));
  // No function wraps the column, so that an index can answer the comparison.
  if (term.operator === 'eq') return `(${sql} is not null and ${sql} = ${writing.bind(value)})`;
  return compareText(writing, sql, term.operator, value);
}

const texts = {
  // Without the cast, SQLite would compare this column with "7" as a number.
  id: { sql: 'cast(r.id as text)', caseExact: true },
  userName: { sql: 'r.user_name_canonical', caseExact: false },
  externalId: { sql: 'r.external_id', caseExact: true },
  displayName: { sql: 'r.display_name_canonical', caseExact: false },
  resourceType: { sql: "cast('Group' as text)", caseExact: true },
};

// PostgreSQL fails on an invalid UUID, and ignores the case of a valid one.
function equalId({ bind }: Writing, value: string): string {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
  return isId ? `r.id = ${bind(value)}` : 'false';
}

function writeInstant(
  { dialect, bind }: Writing,
  column: 'created' | 'lastModified',
  term: Compare,
): string {
  const name = column === 'created' ? 'r.created_at' : 'r.modified_at';
  const value = instantParameter(dialect, new Date(Number(term.value)), bind);
  // For times, `filterValue` allows only these operators.
  return `${name} ${signs[term.operator as keyof typeof signs]} ${value}`;
}
