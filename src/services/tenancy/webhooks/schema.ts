import { z } from 'zod';
import { deliveryStatuses } from '../../../database/models/webhook-delivery.ts';
import { eventView, kindPattern } from '../../foundation/events/view.ts';
import { id, instant, ref } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';

/** Where events are sent: an address as it is dialled, without credentials, which would be shown with it. */
const url = z
  .url({ protocol: /^https?$/, error: 'must be an https:// URL', abort: true })
  .max(2000, 'must have at most 2000 characters')
  .refine((text) => {
    const { username, password, hash } = new URL(text);
    return username === '' && password === '' && hash === '';
  }, 'must not hold credentials or a fragment');

const events = z.array(kindPattern).min(1, 'must name at least one kind').max(100, 'must be at most 100');

export const listWebhooksInput = z.strictObject({ org: ref, ...pageInput });
export const addWebhookInput = z.strictObject({ org: ref, url, events: events.default(['*']) });
export const webhookRefInput = z.strictObject({ org: ref, id });
export const changeWebhookInput = z.strictObject({ org: ref, id, enabled: z.boolean() });
export const listDeliveriesInput = z.strictObject({
  org: ref,
  id,
  status: z.enum(deliveryStatuses, `must be one of ${deliveryStatuses.join(', ')}`).optional(),
  ...pageInput,
});
/** As the operator may name them: without their organization. */
export const anyWebhookInput = z.strictObject({ org: ref.optional(), id });
export const anyDeliveryInput = z.strictObject({ org: ref.optional(), delivery: id });
export const retryDeliveryInput = z.strictObject({ org: ref, id, delivery: id });

export const webhookView = z.object({
  id,
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  /** Since when nothing has been delivered and something has failed. */
  failingSince: instant.nullable(),
  createdAt: instant,
});
export const webhookPage = pageOf(webhookView);
export const newWebhookView = webhookView.extend({ secret: z.string() });
export const rotatedWebhookView = newWebhookView.extend({ previousUntil: instant });
export const webhookRemovedView = webhookView.extend({ waiting: z.int() });

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
export const deliveryPage = pageOf(deliveryView);

/** What a webhook is sent. */
export const webhookMessage = z.object({ type: z.string(), timestamp: instant, data: eventView });

export const webhookTestView = z.object({
  ok: z.boolean(),
  message: z.string(),
  responseStatus: z.int().nullable(),
});
