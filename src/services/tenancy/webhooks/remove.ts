import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireWebhook } from './find.ts';
import type { webhookRefInput } from './schema.ts';
import { viewWebhook } from './view.ts';

/** Removes a webhook; what waited for it is not sent any more. */
export async function removeWebhook(ctx: Context, input: z.output<typeof webhookRefInput>) {
  const { organization } = await requireAuthority(ctx, 'webhooks.change', input.org);
  return transaction(async () => {
    const webhook = await requireWebhook(organization, input.id);
    const waiting = await WebhookDelivery.count({ where: { webhookId: webhook.id, status: 'waiting' } });
    await webhook.destroy();
    await recordEvent(ctx, {
      kind: 'webhook.removed',
      organizationId: organization.id,
      subject: { type: 'webhook', id: webhook.id, name: webhook.url },
      data: { waiting },
    });
    return { ...viewWebhook(webhook), waiting };
  });
}
