import { select } from '../../../../database/select.ts';
import { isUuid } from '../../../foundation/fields.ts';
import { fold } from '../../../foundation/scim-user/names.ts';
import type { Key } from '../filter-keys.ts';

const few = 50;

/** The table and index to find a key's records with. */
const places = {
  id: { from: 'scim_records', by: 'id', record: 'id', stored: (value: string) => value },
  userName: { from: 'scim_records', by: 'user_name_canonical', record: 'id', stored: fold },
  externalId: {
    from: 'scim_records',
    by: 'external_id',
    record: 'id',
    stored: (value: string) => value,
  },
  email: { from: 'scim_emails', by: 'value_canonical', record: 'record_id', stored: fold },
} as const satisfies Record<Key['column'], unknown>;

/**
 * Selects the ids of the records that have any of the keys, each part by its index. `$1` is the
 * organization. The values of the keys are added to `bind`.
 */
export function recordsWith(keys: Key[], bind: unknown[]): string {
  const parts = keys.filter(isPossible).map(({ column, value }) => {
    const { from, by, record, stored } = places[column];
    const given = bind.push(stored(value));
    return `SELECT ${record} FROM ${from} WHERE organization_id = $1 AND ${by} = $${given}`;
  });
  // Matches no record.
  return parts.length === 0 ? 'SELECT NULL' : parts.join(' UNION ');
}

// PostgreSQL fails on an invalid uuid.
function isPossible({ column, value }: Key): boolean {
  return column !== 'id' || isUuid(value);
}

/**
 * Whether few enough records have any of the keys, so that idctl can read and sort them at once. A
 * client may give all of its people one externalId or one address.
 */
export async function areFew(organizationId: string, keys: Key[]): Promise<boolean> {
  const shared = keys.filter(({ column }) => column === 'externalId' || column === 'email');
  if (shared.length === 0) return true;
  const bind: unknown[] = [organizationId];
  const counts = shared.map(
    (key) =>
      `(SELECT count(*) FROM (${recordsWith([key], bind)} LIMIT ${few + 1}) k${bind.length})`,
  );
  const [row] = await select<{ records: number | string }>(
    `SELECT ${counts.join(' + ')} AS records`,
    bind,
  );
  return Number(row?.records ?? 0) <= few;
}
