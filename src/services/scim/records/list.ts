import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { ScimRecord } from '../../../database/models/scim-record.ts';
import { requireAuthority } from '../../authority/require.ts';
import { readPage } from '../../page.ts';
import type { listScimUsersInput } from '../schema.ts';
import { shownTo } from './shown.ts';

/** Whom the organization's SCIM client sees: who they are to it, and whether they are members. */
export async function listScimUsers(ctx: Context, input: z.output<typeof listScimUsersInput>) {
  const { organization } = await requireAuthority(ctx, 'scim.see', input.org);
  const { items, nextCursor } = await readPage(
    input,
    (after, limit) =>
      ScimRecord.findAll({
        where: { organizationId: organization.id, hidden: false, id: { [Op.gt]: after } },
        include: { model: Account, as: 'account', required: true },
        order: ['id'],
        limit,
      }),
    ({ id }) => id,
    (record) => record,
  );
  const shown = await shownTo(
    organization.id,
    items.map(({ account }) => account),
  );
  return { items: items.map((record) => view(record, shown(record.account).email)), nextCursor };
}

function view(record: ScimRecord, email: string | null) {
  const { id, userName, externalId, active, modifiedAt } = record;
  return { id, userName, externalId, email, active, updatedAt: modifiedAt.toISOString() };
}
