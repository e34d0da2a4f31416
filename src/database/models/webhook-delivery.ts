import type { CreationOptional, Sequelize } from 'sequelize';
import {
  index,
  instantColumn,
  integer,
  key,
  optional,
  Row,
  table,
  textColumn,
  to,
  withDefault,
} from './columns.ts';

/** The state of a delivery. `dead` ones are not retried automatically. */
export const deliveryStatuses = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event to deliver to one webhook, written in the event's transaction. */
export class WebhookDelivery extends Row<WebhookDelivery> {
  /** The `webhook-id`. */
  declare id: string;
  declare webhookId: string;
  /** The kind of the event. */
  declare event: string;
  /** The body sent, the same on every try. */
  declare body: string;
  declare at: Date;
  declare status: DeliveryStatus;
  declare attempts: CreationOptional<number>;
  /** Null after the delivery or after giving up. */
  declare nextAt: Date | null;
  declare responseStatus: CreationOptional<number | null>;
  declare error: CreationOptional<string | null>;
  /** When it was delivered or given up. */
  declare endedAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initWebhookDelivery(sequelize: Sequelize): void {
  const waiting = { status: 'waiting' };
  WebhookDelivery.init(
    {
      id: key(),
      webhookId: to('webhooks'),
      event: textColumn(),
      body: textColumn(),
      at: instantColumn(),
      status: textColumn(),
      attempts: withDefault(integer(), 0),
      nextAt: optional(instantColumn()),
      responseStatus: optional(integer()),
      error: optional(textColumn()),
      endedAt: optional(instantColumn()),
    },
    table(sequelize, 'webhook_deliveries', [
      index('webhook_deliveries_webhook_id', ['webhook_id', 'id']),
      index('webhook_deliveries_waiting', ['webhook_id', 'id'], waiting),
      index('webhook_deliveries_due', ['webhook_id', 'next_at'], waiting),
      index('webhook_deliveries_ended_at', ['status', 'ended_at']),
    ]),
  );
}
