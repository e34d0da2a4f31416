import { type Dialect, elementsAt, inByteOrder, textAt } from '../../../database/dialect-sql.ts';
import { columnOf, findSub, type Names } from '../../foundation/scim-user/names.ts';
import { scimRefusal } from '../../foundation/scim-user/refusal.ts';
import { searchKey, searchPath } from '../../foundation/scim-user/search.ts';

/**
 * The sort key as an SQL expression over `scim_records r` or `scim_groups r`. For a multi-valued
 * attribute, it is the primary value, or the first if none is primary (RFC 7644 §3.4.2.3). Rows
 * without a value have NULL, and come last in ascending order. 400 `invalidPath` for an attribute
 * that cannot be a sort key.
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
  return inByteOrder(text, dialect);
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
