import type { Column } from '../../foundation/scim-user/attribute.ts';
import { columnOf } from '../../foundation/scim-user/names.ts';
import type { Filter } from './filter.ts';

/** A value of an indexed column. */
export interface Key {
  column: Exclude<Column, 'active' | 'created' | 'lastModified' | 'resourceType'>;
  value: string;
}

/**
 * Keys such that every record that satisfies the filter has at least one of them. Null if no such
 * keys exist. For `and`, returns all possible keys, because the database chooses among them.
 */
export function keysOf(filter: Filter): Key[] | null {
  switch (filter.kind) {
    case 'and': {
      const keys = filter.filters.map(keysOf).filter((some) => some !== null);
      return keys.length === 0 ? null : keys.flat();
    }
    case 'or': {
      const keys = filter.filters.map(keysOf);
      return keys.includes(null) ? null : keys.flatMap((some) => some ?? []);
    }
    case 'element': {
      const emails = emailsIn(filter.filter);
      return emails.length === 0 ? null : emails.map((value) => ({ column: 'email', value }));
    }
    case 'compare': {
      const key = keyOf(filter);
      return key === null ? null : [key];
    }
    default:
      return null;
  }
}

/** The addresses that an element must have to satisfy this filter on `emails`. */
export function emailsIn(filter: Filter): string[] {
  if (filter.kind === 'and') return filter.filters.flatMap(emailsIn);
  const key = filter.kind === 'compare' ? keyOf(filter) : null;
  return key?.column === 'email' ? [key.value] : [];
}

function keyOf({ target, operator, value }: Extract<Filter, { kind: 'compare' }>): Key | null {
  const column = columnOf(target);
  if (operator !== 'eq' || column === null) return null;
  // Too many records share a value of these columns.
  if (column === 'active' || column === 'created' || column === 'lastModified') return null;
  if (column === 'resourceType') return null;
  return { column, value: String(value) };
}
