import { z } from 'zod';
import { Webhook } from '../../../../database/models/webhook.ts';
import { deliveryStatuses, WebhookDelivery } from '../../../../database/models/webhook-delivery.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { eventAbout, recordEvent } from '../../../foundation/events/record.ts';
import { id, instant, ref, viewOf } from '../../../foundation/fields.ts';
import { operation } from '../../../foundation/operation.ts';
import { pageInput, pageOf, readRows } from '../../../foundation/page.ts';
import { requireSeen, requireWebhook } from '../operations.ts';

export const deliveryView = z.object({
  id,
  event: z.string(),
  at: instant,
  attempts: z.int(),
  status: z.enum(deliveryStatuses),
  nextAt: instant.nullable(),
  responseStatus: z.int().nullable(),
  error: z.string().nullable(),
});

/** Lists the deliveries to a webhook, whether delivered, waiting or dead, newest first. */
export const listDeliveries = operation({
  authority: 'webhooks.see',
  input: z.strictObject({
    org: ref,
    id,
    status: z.enum(deliveryStatuses, `must be one of ${deliveryStatuses.join(', ')}`).optional(),
    ...pageInput,
  }),
  output: pageOf(deliveryView),
  run: async (_ctx, input, { organization }) => {
    const { id: webhookId } = await requireWebhook(organization, input.id);
    const status = input.status === undefined ? {} : { status: input.status };
    const rows = { where: { webhookId, ...status }, newestFirst: true };
    return readRows(WebhookDelivery, rows, input, viewDelivery);
  },
});

/** Queues a delivery again under the same id, as if never attempted. Ends the webhook's pause. */
export const retryDelivery = operation({
  authority: 'webhooks.change',
  input: z.strictObject({ org: ref, id, delivery: id }),
  output: deliveryView,
  run: (ctx, input, { organization }) =>
    transaction(async () => {
      const webhook = await requireWebhook(organization, input.id);
      if (!webhook.enabled)
        throw new Refusal('conflict', 'The webhook is disabled.', {
          hint: {
            say: 'Enable it first',
            operation: 'webhook.enable',
            with: { id: webhook.id, org: organization.slug },
          },
        });
      const delivery = await requireDelivery(webhook, input.delivery);
      await webhook.update({ pausedUntil: null });
      await delivery.update({ status: 'waiting', attempts: 0, nextAt: ctx.now, endedAt: null });
      await recordEvent(ctx, {
        kind: 'webhook.delivery.retried',
        ...eventAbout('webhook', { id: webhook.id, name: webhook.url }, organization.id),
        data: { delivery: delivery.id, event: delivery.event },
      });
      return viewDelivery(delivery);
    }),
});

async function requireDelivery(webhook: Webhook, which: string): Promise<WebhookDelivery> {
  const delivery = await WebhookDelivery.findOne({ where: { id: which, webhookId: webhook.id } });
  if (delivery !== null) return delivery;
  throw new Refusal('not_found', `The webhook ${webhook.id} has no delivery ${which}.`, {
    hint: { to: 'list them', operation: 'webhook.deliveries', with: { id: webhook.id } },
  });
}

/** Finds the webhook and the organization of a delivery. The operator may leave `org` out. */
export const locateDelivery = operation({
  authority: 'webhooks.see',
  prove: (ctx, { org }) => requireSeen(ctx, org),
  input: z.strictObject({ org: ref.optional(), delivery: id }),
  output: z.object({ org: id, id, delivery: id }),
  run: async (_ctx, input, organization) => {
    const delivery = await WebhookDelivery.findByPk(input.delivery);
    const webhook = delivery === null ? null : await Webhook.findByPk(delivery.webhookId);
    const elsewhere = organization !== null && webhook?.organizationId !== organization.id;
    if (webhook === null || elsewhere)
      throw new Refusal('not_found', `There is no delivery ${input.delivery}.`);
    return { org: webhook.organizationId, id: webhook.id, delivery: input.delivery };
  },
});

function viewDelivery(delivery: WebhookDelivery) {
  return viewOf(deliveryView, delivery);
}
