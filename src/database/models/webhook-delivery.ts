import { column, rowOf } from './columns.ts';

/** The states of a delivery. A `dead` delivery is not retried automatically. */
export const deliveryStatuses = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event to deliver to one webhook. It is written in the transaction of the event. */
export class WebhookDelivery extends rowOf(
  'webhook_deliveries',
  {
    /** The `webhook-id` header. */
    id: column.key(),
    webhookId: column.to('webhooks'),
    /** The kind of the event. */
    event: column.string(),
    /** The body, the same for every attempt. */
    body: column.string(),
    at: column.date(),
    status: column.string<DeliveryStatus>(),
    attempts: column.withDefault(column.integer(), 0),
    /** The time of the next attempt. Null after the delivery succeeded or was given up. */
    nextAt: column.optional(column.date()),
    responseStatus: column.optional(column.integer()),
    error: column.optional(column.string()),
    /** When the delivery succeeded or was given up. */
    endedAt: column.optional(column.date()),
  },
  () => [
    column.index('webhook_deliveries_webhook_id', ['webhook_id', 'id']),
    column.index('webhook_deliveries_waiting', ['webhook_id', 'id'], { status: 'waiting' }),
    column.index('webhook_deliveries_due', ['webhook_id', 'next_at'], { status: 'waiting' }),
    column.index('webhook_deliveries_ended_at', ['status', 'ended_at']),
  ],
) {}
