import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Identity } from '../../../database/models/identity.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import { requireAccount } from '../../people/accounts/find.ts';
import type { listIdentitiesInput } from './schema.ts';
import { findFormer, viewIdentity } from './view.ts';

/** The outside identities of an account, oldest first; those of connections that were removed too. */
export async function listIdentities(ctx: Context, input: z.output<typeof listIdentitiesInput>) {
  requireOperator(ctx);
  const { id: accountId } = await requireAccount(input.user);
  const isFormer = await findFormer(
    await Identity.findAll({ where: { accountId }, attributes: ['kind', 'connectionId'] }),
  );
  return readPage(
    input,
    (after, limit) =>
      Identity.findAll({ where: { accountId, id: { [Op.gt]: after } }, order: ['id'], limit }),
    (row) => row.id,
    (row) => viewIdentity(row, isFormer),
  );
}
