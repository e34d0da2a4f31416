import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import { requireAuthority } from '../../../foundation/authority/require.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { requireDelivery, requireWebhook } from '../find.ts';
import type { retryDeliveryInput } from '../schema.ts';
import { viewDelivery } from '../view.ts';

/**
 * Has a delivery sent again, whatever became of it, with its id and its tries begun anew; a webhook that waits is asked
 * again at once.
 */
export async function retryDelivery(ctx: Context, input: z.output<typeof retryDeliveryInput>) {
  const { organization } = await requireAuthority(ctx, 'webhooks.change', input.org);
  return transaction(async () => {
    const webhook = await requireWebhook(organization, input.id);
    if (!webhook.enabled) throw switchedOff();
    const delivery = await requireDelivery(webhook, input.delivery);
    await webhook.update({ pausedUntil: null });
    await delivery.update({ status: 'waiting', attempts: 0, nextAt: ctx.now, endedAt: null });
    await recordEvent(ctx, {
      kind: 'webhook.delivery.retried',
      organizationId: organization.id,
      subject: { type: 'webhook', id: webhook.id, name: webhook.url },
      data: { delivery: delivery.id, event: delivery.event },
    });
    return viewDelivery(delivery);
  });
}

function switchedOff(): Refusal {
  return new Refusal('conflict', 'The webhook is switched off.', {
    hint: 'Switch it on first: idctl webhook enable (or PATCH …/webhooks/… {"enabled": true}).',
  });
}
