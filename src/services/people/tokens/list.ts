import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { readPage } from '../../foundation/page.ts';
import type { listOwnTokensInput, listTokensInput } from './schema.ts';
import { viewToken } from './view.ts';
import { requireHolder } from './whose.ts';

type Input = z.output<typeof listOwnTokensInput> & Partial<z.output<typeof listTokensInput>>;

/** The tokens of the person who asks, oldest first and without their values; for the operator, those of the account named. */
export async function listTokens(ctx: Context, input: Input) {
  const accountId = await requireHolder(ctx, 'me.see', input.user);
  return readPage(
    input,
    (after, limit) =>
      AccessToken.findAll({ where: { accountId, id: { [Op.gt]: after } }, order: ['id'], limit }),
    (row) => row.id,
    viewToken,
  );
}
