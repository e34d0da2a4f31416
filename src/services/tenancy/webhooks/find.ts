import type { Organization } from '../../../database/models/organization.ts';
import { Webhook } from '../../../database/models/webhook.ts';
import { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';
import { Refusal } from '../../../errors.ts';

/** The organization's webhook of this id. */
export async function requireWebhook(
  { id: organizationId, slug }: Organization,
  id: string,
): Promise<Webhook> {
  const webhook = await Webhook.findOne({ where: { id, organizationId } });
  if (webhook === null) {
    throw new Refusal('not_found', `${slug} has no webhook ${id}.`, {
      hint: 'idctl webhook list (or GET /api/v1/orgs/…/webhooks) shows them.',
    });
  }
  return webhook;
}

/** The webhook's delivery of this id. */
export async function requireDelivery(webhook: Webhook, id: string): Promise<WebhookDelivery> {
  const delivery = await WebhookDelivery.findOne({ where: { id, webhookId: webhook.id } });
  if (delivery === null) {
    throw new Refusal('not_found', `The webhook ${webhook.id} has no delivery ${id}.`, {
      hint: 'idctl webhook deliveries (or GET …/deliveries) shows them.',
    });
  }
  return delivery;
}
