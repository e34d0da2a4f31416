import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Identity } from '../../database/models/identity.ts';
import { requireAccount } from '../accounts/find.ts';
import { requireOperator } from '../authority/require.ts';
import { readPage } from '../page.ts';
import type { listIdentitiesInput } from './schema.ts';
import { viewIdentity } from './view.ts';

/** The outside identities by which an account is signed in, oldest first. */
export async function listIdentities(ctx: Context, input: z.output<typeof listIdentitiesInput>) {
  requireOperator(ctx);
  const { id: accountId } = await requireAccount(input.user);
  return readPage(
    input,
    (after, limit) =>
      Identity.findAll({ where: { accountId, id: { [Op.gt]: after } }, order: ['id'], limit }),
    (row) => row.id,
    viewIdentity,
  );
}
