import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account } from '../../../database/models/account.ts';
import { select } from '../../../database/select.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { ref } from '../../foundation/fields.ts';
import { pageInput, readPage } from '../../foundation/page.ts';
import { viewToken } from '../../people/tokens/view.ts';
import { pushedIn } from './pushed.ts';

export const listAdminTokensInput = z.strictObject({ org: ref, ...pageInput });

/**
 * The tokens of scope admin of the organization's members, without their values, oldest first (security P15); of nobody
 * whom its provisioning pushed into it (security O8).
 */
export async function listAdminTokens(ctx: Context, input: z.output<typeof listAdminTokensInput>) {
  const { organization } = await requireAuthority(ctx, 'adminTokens.see', input.org);
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
}

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
