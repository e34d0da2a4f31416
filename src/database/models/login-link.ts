import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** A link by which the operator lets somebody in once; an account has one at a time. */
export class LoginLink extends Model<InferAttributes<LoginLink>, InferCreationAttributes<LoginLink>> {
  /** The SHA-256 of the token in the link. */
  declare id: string;
  declare accountId: string;
  declare expiresAt: Date;
}

/** Binds the model to the open database. */
export function initLoginLink(sequelize: Sequelize): void {
  LoginLink.init(
    {
      id: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'login_links',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'login_links_account_id', unique: true, fields: ['account_id'] },
        { name: 'login_links_expires_at', fields: ['expires_at'] },
      ],
    },
  );
}
