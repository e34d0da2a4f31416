import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';
import { Refusal } from '../../../errors.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import type { anyDeliveryInput, anyWebhookInput } from './schema.ts';

/** Names the organization of a webhook, for the operator, who need not. */
export async function locateWebhook(ctx: Context, { id, org }: z.output<typeof anyWebhookInput>) {
  requireOperator(ctx);
  if (org !== undefined) return { org, id };
  const webhook = await Webhook.findByPk(id);
  if (webhook === null)
    throw new Refusal('not_found', `There is no webhook ${id}.`, {
      hint: 'idctl webhook list shows those of an organization.',
    });
  return { org: webhook.organizationId, id };
}

/** Names the webhook and the organization of a delivery, for the operator, who need not. */
export async function locateDelivery(ctx: Context, input: z.output<typeof anyDeliveryInput>) {
  requireOperator(ctx);
  const delivery = await WebhookDelivery.findByPk(input.delivery);
  if (delivery === null) throw new Refusal('not_found', `There is no delivery ${input.delivery}.`);
  return { ...(await locateWebhook(ctx, { id: delivery.webhookId, org: input.org })), delivery: delivery.id };
}
