import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { Account } from '../../../../database/models/account.ts';
import { ScimRecord } from '../../../../database/models/scim-record.ts';
import { select } from '../../../../database/select.ts';
import { Refusal } from '../../../../errors.ts';
import type { ListPlace } from '../../../../scim-memory.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { shownTo } from '../../../foundation/authority/shown.ts';
import { firstKey, readPage } from '../../../foundation/page.ts';
import type { listScimUsersInput } from '../schema.ts';
import { beginning } from './places.ts';

/**
 * The users that the organization's SCIM client sees, with their data and whether they are members.
 */
export async function listScimUsers(ctx: Context, input: z.output<typeof listScimUsersInput>) {
  const { organization } = await requireAuthority(ctx, 'scim.see', input.org);
  const { items, nextCursor } = await readPage(
    input,
    (after, limit) => findAfter(organization.id, after, limit),
    ({ id }) => id,
    (record) => record,
  );
  const shown = await shownTo(
    organization.id,
    items.map(({ account }) => account),
  );
  return { items: items.map((record) => view(record, shown(record.account).email)), nextCursor };
}

/** The next records in the order of the client's own list, which has an index. */
async function findAfter(
  organizationId: string,
  after: string,
  limit: number,
): Promise<ScimRecord[]> {
  const place = await placeOf(organizationId, after);
  const rows = await select<{ id: string }>(
    `SELECT id FROM scim_records WHERE organization_id = $1 AND hidden = $2 AND (created_at, id) > ($3, $4)
      ORDER BY created_at, id LIMIT $5`,
    [organizationId, false, place.created_at, place.id, limit],
  );
  return ScimRecord.findAll({
    where: { id: rows.map(({ id }) => id) },
    include: { model: Account, as: 'account', required: true },
    order: ['createdAt', 'id'],
  });
}

async function placeOf(organizationId: string, id: string): Promise<ListPlace> {
  if (id === firstKey) return beginning;
  const [place] = await select<ListPlace>(
    'SELECT created_at, id FROM scim_records WHERE organization_id = $1 AND id = $2',
    [organizationId, id],
  );
  if (place !== undefined) return place;
  throw new Refusal('invalid_input', 'cursor: its User was deleted', {
    hint: 'Begin without a cursor.',
  });
}

function view(record: ScimRecord, email: string | null) {
  const { id, userName, externalId, active, modifiedAt } = record;
  return { id, userName, externalId, email, active, updatedAt: modifiedAt.toISOString() };
}
