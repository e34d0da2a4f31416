import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { readPage } from '../../foundation/page.ts';
import type { listMembersInput } from './schema.ts';
import { viewMember } from './view.ts';

/** The organization's members. */
export async function listMembers(ctx: Context, input: z.output<typeof listMembersInput>) {
  const { organization } = await requireAuthority(ctx, 'members.see', input.org);
  const { items, nextCursor } = await readPage(
    input,
    (after, limit) =>
      Membership.findAll({
        where: { organizationId: organization.id, accountId: { [Op.gt]: after } },
        include: { model: Account, as: 'account', required: true },
        order: ['accountId'],
        limit,
      }),
    (row) => row.accountId,
    (row) => row,
  );
  const shown = await shownTo(
    organization.id,
    items.map(({ account }) => account),
  );
  return { items: items.map((row) => viewMember(row, shown(row.account))), nextCursor };
}
