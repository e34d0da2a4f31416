import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** What becomes of a delivery: `dead` ones are not tried again by themselves. */
export const deliveryStatuses = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event on its way to one webhook, written in the transaction that wrote the event. */
export class WebhookDelivery extends Model<
  InferAttributes<WebhookDelivery>,
  InferCreationAttributes<WebhookDelivery>
> {
  /** The `webhook-id`. */
  declare id: string;
  declare webhookId: string;
  /** The kind of the event. */
  declare event: string;
  /** What is sent, the same at every try. */
  declare body: string;
  declare at: Date;
  declare status: DeliveryStatus;
  declare attempts: CreationOptional<number>;
  /** Null once it waits no longer. */
  declare nextAt: Date | null;
  declare responseStatus: CreationOptional<number | null>;
  declare error: CreationOptional<string | null>;
  /** When it was delivered or given up. */
  declare endedAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initWebhookDelivery(sequelize: Sequelize): void {
  const waiting = { where: { status: 'waiting' } };
  WebhookDelivery.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      webhookId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'webhooks', key: 'id' },
        onDelete: 'CASCADE',
      },
      event: { type: DataTypes.TEXT, allowNull: false },
      body: { type: DataTypes.TEXT, allowNull: false },
      at: { type: DataTypes.DATE, allowNull: false },
      status: { type: DataTypes.TEXT, allowNull: false },
      attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      nextAt: { type: DataTypes.DATE, allowNull: true },
      responseStatus: { type: DataTypes.INTEGER, allowNull: true, defaultValue: null },
      error: { type: DataTypes.TEXT, allowNull: true, defaultValue: null },
      endedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
    },
    {
      sequelize,
      tableName: 'webhook_deliveries',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'webhook_deliveries_webhook_id', fields: ['webhook_id', 'id'] },
        { name: 'webhook_deliveries_waiting', fields: ['webhook_id', 'id'], ...waiting },
        { name: 'webhook_deliveries_due', fields: ['webhook_id', 'next_at'], ...waiting },
        { name: 'webhook_deliveries_ended_at', fields: ['status', 'ended_at'] },
      ],
    },
  );
}
