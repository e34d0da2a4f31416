import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import type { listUsersInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';

/** Every account of the instance, oldest first. */
export async function listUsers(ctx: Context, input: z.output<typeof listUsersInput>) {
  requireOperator(ctx);
  return readPage(
    input,
    (after, limit) => Account.findAll({ where: { id: { [Op.gt]: after } }, order: ['id'], limit }),
    (row) => row.id,
    (row) => viewUser(ctx, row),
  );
}
