import { columnOf, findSub, findTarget } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { searchKey, searchPath } from '../../foundation/scim-user/search.ts';
import { type Dialect, elementsAt, textAt } from './sql.ts';

/**
 * The sort key as an SQL expression over `scim_records r`. Of several values, the primary or first
 * one counts (RFC 7644 §3.4.2.3). NULL for a record without a value, which is last in ascending
 * order. 400 `invalidPath` if the attribute cannot be sorted by.
 */
export function sortExpression(sortBy: string, dialect: Dialect): string {
  const target = findTarget(sortBy.trim());
  const attribute = target?.attribute;
  const sub = target?.sub ?? (attribute?.type === 'complex' ? findSub(attribute, 'value') : null);
  const named = sub ?? attribute;
  if (
    target === null ||
    attribute === undefined ||
    named === undefined ||
    !named.searchable ||
    named.type === 'complex'
  ) {
    throw scimRefusal(400, 'invalidPath', `Users cannot be sorted by "${sortBy.slice(0, 100)}".`);
  }
  const column = columnOf({ attribute, sub });
  if (column !== null && column !== 'email') return columns[column];
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
};

function firstElement(dialect: Dialect, list: string[], path: string[]): string {
  const primary = `coalesce(${textAt(dialect, 'e.value', ['primary'])} = 'true', false)`;
  const order = path.length === 0 ? 'e.key' : `${primary} desc, e.key`;
  const elements = elementsAt(dialect, 'r.search', list);
  return `(select ${textAt(dialect, 'e.value', path)} from ${elements} order by ${order} limit 1)`;
}
