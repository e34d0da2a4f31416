import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { WebhookDelivery } from '../../../../database/models/webhook-delivery.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { firstKey, readPage } from '../../../foundation/page.ts';
import { requireWebhook } from '../find.ts';
import type { listDeliveriesInput } from '../schema.ts';
import { viewDelivery } from '../view.ts';

/** What was, is to be or could not be delivered to a webhook, newest first. */
export async function listDeliveries(ctx: Context, input: z.output<typeof listDeliveriesInput>) {
  const { organization } = await requireAuthority(ctx, 'webhooks.see', input.org);
  const { id: webhookId } = await requireWebhook(organization, input.id);
  const status = input.status === undefined ? {} : { status: input.status };
  return readPage(
    input,
    (before, limit) =>
      WebhookDelivery.findAll({
        where: { webhookId, ...status, ...(before === firstKey ? {} : { id: { [Op.lt]: before } }) },
        order: [['id', 'DESC']],
        limit,
      }),
    (row) => row.id,
    viewDelivery,
  );
}
