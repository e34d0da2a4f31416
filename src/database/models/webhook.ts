import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** Where an organization wants its events sent (interface page, webhooks). */
export class Webhook extends Model<InferAttributes<Webhook>, InferCreationAttributes<Webhook>> {
  declare id: string;
  declare organizationId: string;
  declare url: string;
  /** Null means every kind. */
  declare events: string[] | null;
  /** Sealed. */
  declare secret: string;
  /** Sealed; it signs too until `previousUntil`. */
  declare previousSecret: CreationOptional<string | null>;
  declare previousUntil: CreationOptional<Date | null>;
  declare enabled: boolean;
  /** Since when nothing has been delivered and something has failed. */
  declare failingSince: CreationOptional<Date | null>;
  /** Until then nothing is sent: it did not answer. */
  declare pausedUntil: CreationOptional<Date | null>;
  /** The turn of the daemon that delivers to it now, and until when that may be believed. */
  declare leaseId: CreationOptional<string | null>;
  declare leasedUntil: CreationOptional<Date | null>;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initWebhook(sequelize: Sequelize): void {
  Webhook.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      url: { type: DataTypes.TEXT, allowNull: false },
      events: { type: DataTypes.JSON, allowNull: true },
      secret: { type: DataTypes.TEXT, allowNull: false },
      previousSecret: { type: DataTypes.TEXT, allowNull: true, defaultValue: null },
      previousUntil: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      enabled: { type: DataTypes.BOOLEAN, allowNull: false },
      failingSince: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      pausedUntil: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      leaseId: { type: DataTypes.UUID, allowNull: true, defaultValue: null },
      leasedUntil: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'webhooks',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'webhooks_organization_id', fields: ['organization_id', 'id'] }],
    },
  );
}
