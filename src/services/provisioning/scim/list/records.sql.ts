import { select } from '../../../../database/select.ts';
import { columns, type Entry, kinds } from '../../../tenancy/scim-records/record.sql.ts';

// The SQL of the whole list of Users.

/** A record's position in the list's order. */
export interface ListPosition {
  created_at: Date;
  id: string;
}

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

/** The Users after a position and after `skip` more. */
export function readRecordsAfter(
  organizationId: string,
  place: ListPosition,
  { count, skip }: { count: number; skip: number },
): Promise<Entry[]> {
  return select<Entry>(
    `SELECT ${columns} FROM (
       SELECT id FROM scim_records
        WHERE organization_id = $1 AND hidden = $2 AND (created_at, id) > ($3, $4)
        ORDER BY created_at, id LIMIT $5 OFFSET $6) page
       JOIN scim_records r ON r.id = page.id ORDER BY r.created_at, r.id`,
    [organizationId, false, place.created_at, place.id, count, skip],
    { columns: kinds },
  );
}

/** The list's shift number, and the number of records after a position, at most `max`. */
export async function countAfter(
  organizationId: string,
  place: ListPosition,
  max?: number,
): Promise<{ shifts: number; tail: number }> {
  const limit = max === undefined ? '' : `LIMIT ${max}`;
  const [row] = await select<{ shifts: number | null; tail: number }>(
    `SELECT (SELECT count FROM scim_shifts WHERE organization_id = $1) AS shifts, count(*) AS tail FROM (
       SELECT 1 FROM scim_records
        WHERE organization_id = $1 AND hidden = $2 AND (created_at, id) > ($3, $4) ${limit}) later`,
    [organizationId, false, place.created_at, place.id],
  );
  return { shifts: row?.shifts ?? 0, tail: row?.tail ?? 0 };
}

/** The position `step` records after another, among records before `settled`; null if none. */
export async function findNthAfter(
  organizationId: string,
  place: ListPosition,
  { step, settled }: { step: number; settled: Date },
): Promise<ListPosition | null> {
  const [position = null] = await select<ListPosition>(
    `SELECT created_at, id FROM scim_records
      WHERE organization_id = $1 AND hidden = $2 AND (created_at, id) > ($3, $4) AND created_at < $5
      ORDER BY created_at, id LIMIT 1 OFFSET ${step - 1}`,
    [organizationId, false, place.created_at, place.id, settled],
    { columns: { created_at: 'time' } },
  );
  return position;
}
