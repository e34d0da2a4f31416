import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** The states of a delivery. A `dead` delivery is not retried automatically. */
export const deliveryStatuses = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event to deliver to one webhook. It is written in the transaction of the event. */
export class WebhookDelivery extends Row<WebhookDelivery> {
  /** The `webhook-id` header. */
  declare id: string;
  declare webhookId: string;
  /** The kind of the event. */
  declare event: string;
  /** The body, the same for every attempt. */
  declare body: string;
  declare at: Date;
  declare status: DeliveryStatus;
  declare attempts: CreationOptional<number>;
  /** The time of the next attempt. Null after the delivery succeeded or was given up. */
  declare nextAt: Date | null;
  declare responseStatus: CreationOptional<number | null>;
  declare error: CreationOptional<string | null>;
  /** When the delivery succeeded or was given up. */
  declare endedAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initWebhookDelivery(sequelize: Sequelize): void {
  const waiting = { status: 'waiting' };
  WebhookDelivery.init(
    {
      id: column.key(),
      webhookId: column.to('webhooks'),
      event: column.string(),
      body: column.string(),
      at: column.date(),
      status: column.string(),
      attempts: column.withDefault(column.integer(), 0),
      nextAt: column.optional(column.date()),
      responseStatus: column.optional(column.integer()),
      error: column.optional(column.string()),
      endedAt: column.optional(column.date()),
    },
    table(sequelize, 'webhook_deliveries', [
      column.index('webhook_deliveries_webhook_id', ['webhook_id', 'id']),
      column.index('webhook_deliveries_waiting', ['webhook_id', 'id'], waiting),
      column.index('webhook_deliveries_due', ['webhook_id', 'next_at'], waiting),
      column.index('webhook_deliveries_ended_at', ['status', 'ended_at']),
    ]),
  );
}
