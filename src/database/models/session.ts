import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from 'sequelize';
import type { Account } from './account.ts';

/** How the person proved who they are. */
export type SignInMethod =
  | 'password'
  | 'sso'
  | 'ldap'
  | 'magicCode'
  | 'google'
  | 'github'
  | 'loginLink'
  /** The code that confirmed the address of a new account. */
  | 'verification';

/** A signed-in browser or client; its refresh tokens are one family (security P4). */
export class Session extends Model<InferAttributes<Session>, InferCreationAttributes<Session>> {
  declare id: string;
  declare accountId: string;
  declare method: SignInMethod;
  /** The connection the sign-in came through, if any. */
  declare connectionId: string | null;
  /** The organization of that connection. */
  declare organizationId: string | null;
  declare address: string | null;
  declare userAgent: string | null;
  declare createdAt: Date;
  declare lastSeenAt: Date;
  /** When the account's own second factor was passed, checked by idctl; null where it was not (security P15). */
  declare secondFactorAt: CreationOptional<Date | null>;
  /** The absolute end, 30 days after the sign-in. */
  declare expiresAt: Date;
  declare endedAt: CreationOptional<Date | null>;
  /** There when the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initSession(sequelize: Sequelize): void {
  Session.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      method: { type: DataTypes.TEXT, allowNull: false },
      connectionId: { type: DataTypes.UUID, allowNull: true },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: true,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'SET NULL',
      },
      address: { type: DataTypes.TEXT, allowNull: true },
      userAgent: { type: DataTypes.TEXT, allowNull: true },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      lastSeenAt: { type: DataTypes.DATE, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
      secondFactorAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      endedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
    },
    {
      sequelize,
      tableName: 'sessions',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'sessions_account_id', fields: ['account_id'] },
        { name: 'sessions_expires_at', fields: ['expires_at'] },
      ],
    },
  );
}
