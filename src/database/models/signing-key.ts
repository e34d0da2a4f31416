import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A key that signs session tokens (security X2). */
export class SigningKey extends Model<InferAttributes<SigningKey>, InferCreationAttributes<SigningKey>> {
  /** The `kid`. */
  declare id: string;
  declare publicJwk: Record<string, unknown>;
  /** Sealed. */
  declare privateJwk: string;
  declare createdAt: Date;
  /** From then on it only verifies; rotation sets it a little ahead. */
  declare retiredAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initSigningKey(sequelize: Sequelize): void {
  SigningKey.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true, allowNull: false },
      publicJwk: { type: DataTypes.JSON, allowNull: false },
      privateJwk: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      retiredAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
    },
    { sequelize, tableName: 'signing_keys', underscored: true, timestamps: false, indexes: [] },
  );
}
