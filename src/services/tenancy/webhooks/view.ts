import type { Webhook } from '../../../database/models/webhook.ts';
import type { WebhookDelivery } from '../../../database/models/webhook-delivery.ts';

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

/** A delivery without what was sent. */
export function viewDelivery(delivery: WebhookDelivery) {
  const { id, event, at, attempts, status, nextAt, responseStatus, error } = delivery;
  return {
    id,
    event,
    at: at.toISOString(),
    attempts,
    status,
    nextAt: nextAt?.toISOString() ?? null,
    responseStatus,
    error,
  };
}
