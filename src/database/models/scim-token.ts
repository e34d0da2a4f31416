import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** The one live SCIM token of an organization (spec §2.4); one that is revoked is gone. */
export class ScimToken extends Model<InferAttributes<ScimToken>, InferCreationAttributes<ScimToken>> {
  declare organizationId: string;
  declare prefix: string;
  /** SHA-256 of the value, in hex. */
  declare hash: string;
  declare createdAt: Date;
  /** To the minute. */
  declare lastUsedAt: CreationOptional<Date | null>;
  /** Since when it is not accepted, having come out of a backup; until it is rotated. */
  declare suspendedAt: CreationOptional<Date | null>;
}

/** Binds the model to the open database. */
export function initScimToken(sequelize: Sequelize): void {
  ScimToken.init(
    {
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      prefix: { type: DataTypes.TEXT, allowNull: false },
      hash: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      lastUsedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      suspendedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
    },
    {
      sequelize,
      tableName: 'scim_tokens',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'scim_tokens_hash', unique: true, fields: ['hash'] }],
    },
  );
}
