import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { AccessToken } from '../../database/models/access-token.ts';
import { Account } from '../../database/models/account.ts';
import { Membership } from '../../database/models/membership.ts';
import { requireAuthority } from '../authority/require.ts';
import { readPage } from '../page.ts';
import { shownTo } from '../scim/records/shown.ts';
import type { listAdminTokensInput } from './schema.ts';
import { viewToken } from './view.ts';

/** The tokens of scope admin of the organization's members, without their values, oldest first (security P15). */
export async function listAdminTokens(ctx: Context, input: z.output<typeof listAdminTokensInput>) {
  const { organization } = await requireAuthority(ctx, 'adminTokens.see', input.org);
  const members = { model: Membership, as: 'memberships', required: true, attributes: [] };
  const { items, nextCursor } = await readPage(
    input,
    (after, limit) =>
      AccessToken.findAll({
        where: { scope: 'admin', id: { [Op.gt]: after } },
        include: {
          model: Account,
          as: 'account',
          required: true,
          include: [{ ...members, where: { organizationId: organization.id } }],
        },
        order: ['id'],
        limit,
        // An account is a member of one organization once.
        subQuery: false,
      }),
    (row) => row.id,
    (row) => row,
  );
  const accounts = items.map(({ account }) => account);
  const shown = await shownTo(organization.id, accounts);
  return {
    items: items.map((row) => ({
      ...viewToken(row),
      user: { id: row.accountId, ...shown(row.account) },
    })),
    nextCursor,
  };
}
