import { z } from 'zod';
import type { Webhook } from '../../../database/models/webhook.ts';
import { eventView } from '../../foundation/events/view.ts';
import { id, instant } from '../../foundation/fields.ts';
import { pageOf } from '../../foundation/page.ts';

export const webhookView = z.object({
  id,
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  /** The start of the time in which nothing was delivered and something failed. */
  failingSince: instant.nullable(),
  createdAt: instant,
});
export const webhookPage = pageOf(webhookView);
export const newWebhookView = webhookView.extend({ secret: z.string() });
export const rotatedWebhookView = newWebhookView.extend({ previousUntil: instant });
export const webhookRemovedView = webhookView.extend({ waiting: z.int() });

export const webhookTestView = z.object({
  ok: z.boolean(),
  message: z.string(),
  responseStatus: z.int().nullable(),
});

/** The message that a webhook gets. */
export const webhookMessage = z.object({ type: z.string(), timestamp: instant, data: eventView });

/** A webhook without its secrets. */
export function viewWebhook(webhook: Webhook) {
  const { id, url, events, enabled, failingSince, createdAt } = webhook;
  return {
    id,
    url,
    events: events ?? ['*'],
    enabled,
    failingSince: failingSince?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
