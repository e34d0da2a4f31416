import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A sign-in by redirect that waits for the second factor; who holds the token of its id may answer. */
export class PendingSignIn extends Model<
  InferAttributes<PendingSignIn>,
  InferCreationAttributes<PendingSignIn>
> {
  /** The SHA-256 of the token in the cookie. */
  declare id: string;
  declare accountId: string;
  /** What the sign-in goes on with. */
  declare payload: unknown;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initPendingSignIn(sequelize: Sequelize): void {
  PendingSignIn.init(
    {
      id: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      payload: { type: DataTypes.JSON, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'pending_sign_ins',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'pending_sign_ins_expires_at', fields: ['expires_at'] },
        { name: 'pending_sign_ins_account_id', fields: ['account_id'] },
      ],
    },
  );
}
