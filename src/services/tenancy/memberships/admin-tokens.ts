import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { select } from '../../../database/select.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { id, ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { pageInput, pageOf, readPage } from '../../foundation/page.ts';
import { tokenView, viewToken } from '../../people/tokens/view.ts';
import { pushedIn } from './pushed.ts';

/** A member's token as the owners of the organization see it, with its account. */
export const memberTokenView = tokenView.extend({
  user: z.object({ id, email: z.string().nullable(), name: z.string() }),
});

/**
 * Lists the members' tokens of scope admin, without their values, oldest first (security P15).
 * Members that provisioning pushed into the organization are left out (security O8).
 */
export const listAdminTokens = operation({
  authority: 'adminTokens.see',
  input: z.strictObject({ org: ref, ...pageInput }),
  output: pageOf(memberTokenView),
  run: async (ctx, input, { organization }) => {
    const { items, nextCursor } = await readPage(
      input,
      (after, limit) => findAfter(ctx, organization.id, after, limit),
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
  },
});

async function findAfter(ctx: Context, organizationId: string, after: string, limit: number) {
  const rows = await select<{ id: string }>(
    `SELECT t.id FROM access_tokens t JOIN accounts a ON a.id = t.account_id
       JOIN memberships m ON m.account_id = a.id AND m.organization_id = $1
      WHERE t.scope = 'admin' AND t.id > $2 AND NOT ${pushedIn(ctx)} ORDER BY t.id LIMIT $3`,
    [organizationId, after, limit],
  );
  return AccessToken.findAll({
    where: { id: rows.map(({ id }) => id) },
    include: { model: Account, as: 'account', required: true },
    order: ['id'],
  });
}
