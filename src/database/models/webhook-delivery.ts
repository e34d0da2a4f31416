import { column, rowOf } from './columns.ts';

/** The states of a delivery. A `dead` delivery is not retried automatically. */
export const deliveryStatuses = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event to deliver to one webhook, written in the event's transaction. */
export class WebhookDelivery extends rowOf(
  'webhook_deliveries',
  {
    /** The `webhook-id`. */
    id: column.key(),
    webhookId: column.to('webhooks'),
    /** The kind of the event. */
    event: column.string(),
    /** The body sent, the same on every try. */
    body: column.string(),
    at: column.date(),
    status: column.string<DeliveryStatus>(),
    attempts: column.withDefault(column.integer(), 0),
    /** Null after the delivery or after giving up. */
    nextAt: column.optional(column.date()),
    responseStatus: column.optional(column.integer()),
    error: column.optional(column.string()),
    /** When it was delivered or given up. */
    endedAt: column.optional(column.date()),
  },
  () => [
    column.index('webhook_deliveries_webhook_id', ['webhook_id', 'id']),
    column.index('webhook_deliveries_waiting', ['webhook_id', 'id'], { status: 'waiting' }),
    column.index('webhook_deliveries_due', ['webhook_id', 'next_at'], { status: 'waiting' }),
    column.index('webhook_deliveries_ended_at', ['status', 'ended_at']),
  ],
) {}
