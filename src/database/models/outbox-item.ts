import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** Something to be sent, written in the transaction that decided it. */
export class OutboxItem extends Model<InferAttributes<OutboxItem>, InferCreationAttributes<OutboxItem>> {
  declare id: string;
  declare kind: string;
  declare payload: Record<string, unknown>;
  declare createdAt: Date;
  declare attempts: CreationOptional<number>;
  declare nextAt: Date;
}

/** Binds the model to the open database. */
export function initOutboxItem(sequelize: Sequelize): void {
  OutboxItem.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      kind: { type: DataTypes.TEXT, allowNull: false },
      payload: { type: DataTypes.JSON, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      nextAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'outbox',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'outbox_next_at', fields: ['next_at'] }],
    },
  );
}
