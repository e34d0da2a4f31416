import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A constant sealed by the master key: it opens only with the right one (security X3). */
export class KeyCanary extends Model<InferAttributes<KeyCanary>, InferCreationAttributes<KeyCanary>> {
  declare keyId: string;
  declare sealed: string;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initKeyCanary(sequelize: Sequelize): void {
  KeyCanary.init(
    {
      keyId: { type: DataTypes.TEXT, primaryKey: true, allowNull: false },
      sealed: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    { sequelize, tableName: 'key_canaries', underscored: true, timestamps: false, indexes: [] },
  );
}
