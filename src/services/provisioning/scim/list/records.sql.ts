import { select } from '../../../../database/select.ts';
import type { ListPosition } from './positions.ts';

/** The ids of the next Users after a position in the SCIM client's list. */
export async function findRecordsAfter(
  organizationId: string,
  place: ListPosition,
  limit: number,
): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT id FROM scim_records WHERE organization_id = $1 AND hidden = $2 AND (created_at, id) > ($3, $4)
      ORDER BY created_at, id LIMIT $5`,
    [organizationId, false, place.created_at, place.id, limit],
  );
  return rows.map(({ id }) => id);
}

/** The position of a User in the list, or null. */
export async function findPlace(organizationId: string, id: string): Promise<ListPosition | null> {
  const [place = null] = await select<ListPosition>(
    'SELECT created_at, id FROM scim_records WHERE organization_id = $1 AND id = $2',
    [organizationId, id],
    { columns: { created_at: 'time' } },
  );
  return place;
}
