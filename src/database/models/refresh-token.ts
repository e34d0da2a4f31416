import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** One refresh token of a session; its JWT is signed from this row and is nothing without it. */
export class RefreshToken extends Model<
  InferAttributes<RefreshToken>,
  InferCreationAttributes<RefreshToken>
> {
  /** The `jti`. */
  declare id: string;
  declare sessionId: string;
  /** The signing key, so that the same row signs to the same bytes. */
  declare keyId: string;
  declare issuedAt: Date;
  declare expiresAt: Date;
  /** When it was used; a second use ends the family after the grace. */
  declare rotatedAt: CreationOptional<Date | null>;
  declare successorId: CreationOptional<string | null>;
}

/** Binds the model to the open database. */
export function initRefreshToken(sequelize: Sequelize): void {
  RefreshToken.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      sessionId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'sessions', key: 'id' },
        onDelete: 'CASCADE',
      },
      keyId: { type: DataTypes.TEXT, allowNull: false },
      issuedAt: { type: DataTypes.DATE, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
      rotatedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      successorId: { type: DataTypes.UUID, allowNull: true, defaultValue: null },
    },
    {
      sequelize,
      tableName: 'refresh_tokens',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'refresh_tokens_session_id', fields: ['session_id'] }],
    },
  );
}
