import { select } from '../../../database/select.ts';
import type { Key } from '../filter-keys.ts';
import { fold } from '../names.ts';

const few = 50;

/** Where the keys are that several records can have; the others lead to one record at most. */
const shared = {
  externalId: { column: 'external_id', table: 'scim_records', stored: (value: string) => value },
  email: { column: 'value_canonical', table: 'scim_emails', stored: fold },
};

/**
 * Whether so few records have any of the keys that they can be read and sorted at once. Nothing keeps a client from giving
 * all its people one externalId or one address.
 */
export async function areFew(organizationId: string, keys: Key[]): Promise<boolean> {
  const bind: unknown[] = [organizationId];
  const counts = keys.flatMap(({ column: name, value }) => {
    if (name !== 'externalId' && name !== 'email') return [];
    const { column, table, stored } = shared[name];
    const place = bind.push(stored(value));
    return `(SELECT count(*) FROM (SELECT 1 FROM ${table}
      WHERE organization_id = $1 AND ${column} = $${place} LIMIT ${few + 1}) k${place})`;
  });
  if (counts.length === 0) return true;
  const [row] = await select<{ records: number | string }>(`SELECT ${counts.join(' + ')} AS records`, bind);
  return Number(row?.records ?? 0) <= few;
}
