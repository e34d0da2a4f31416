import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { readPage } from '../../foundation/page.ts';
import { requireHolder } from '../tokens/whose.ts';
import type { listAppsInput, listOwnAppsInput } from './schema.ts';
import { viewApp } from './view.ts';

type Input = z.output<typeof listOwnAppsInput> & Partial<z.output<typeof listAppsInput>>;

/** The apps of the person who asks, oldest first; for the operator, those of the account named. */
export async function listApps(ctx: Context, input: Input) {
  const accountId = await requireHolder(ctx, 'me.see', input.user);
  return readPage(
    input,
    (after, limit) =>
      OAuthApp.findAll({
        where: { accountId, id: { [Op.gt]: after } },
        include: 'organization',
        order: ['id'],
        limit,
      }),
    (row) => row.id,
    (row) => viewApp(row),
  );
}
