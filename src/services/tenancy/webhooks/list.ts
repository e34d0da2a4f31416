import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { readPage } from '../../foundation/page.ts';
import type { listWebhooksInput } from './schema.ts';
import { viewWebhook } from './view.ts';

/** The organization's webhooks, without their secrets. */
export async function listWebhooks(ctx: Context, input: z.output<typeof listWebhooksInput>) {
  const { organization } = await requireAuthority(ctx, 'webhooks.see', input.org);
  return readPage(
    input,
    (after, limit) =>
      Webhook.findAll({
        where: { organizationId: organization.id, id: { [Op.gt]: after } },
        order: ['id'],
        limit,
      }),
    (row) => row.id,
    viewWebhook,
  );
}
