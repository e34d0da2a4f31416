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
import type { OAuthApp } from './app.ts';

/** Who made a token: a person for themselves, or one of their apps (security P14). */
export const tokenKinds = ['pat', 'bot'] as const;
export type TokenKind = (typeof tokenKinds)[number];

/** What a token may do, the least first (security P15). */
export const tokenScopes = ['read', 'write', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** A token that acts as its account (spec §2.7); one that is revoked is gone. */
export class AccessToken extends Model<InferAttributes<AccessToken>, InferCreationAttributes<AccessToken>> {
  declare id: string;
  declare accountId: string;
  /** The app that a bot token was minted for, while there is one; it ends with it. */
  declare appId: CreationOptional<string | null>;
  declare kind: TokenKind;
  declare scope: CreationOptional<TokenScope>;
  declare name: string;
  declare description: string | null;
  declare prefix: string;
  /** SHA-256 of the value, in hex. */
  declare hash: string;
  declare createdAt: Date;
  /** Null for one that lasts until it is revoked. */
  declare expiresAt: Date | null;
  /** To the minute. */
  declare lastUsedAt: CreationOptional<Date | null>;
  /** Since when it is not accepted, having come out of a backup; until it is regenerated. */
  declare suspendedAt: CreationOptional<Date | null>;
  /** The organization whose provider began the session in which its value was made, without a second factor (security P12). */
  declare vouchedBy: CreationOptional<string | null>;
  declare app?: NonAttribute<OAuthApp | null>;
  /** There when the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initAccessToken(sequelize: Sequelize): void {
  AccessToken.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      appId: {
        type: DataTypes.UUID,
        allowNull: true,
        defaultValue: null,
        references: { model: 'apps', key: 'id' },
        onDelete: 'CASCADE',
      },
      kind: { type: DataTypes.TEXT, allowNull: false },
      scope: { type: DataTypes.TEXT, allowNull: false, defaultValue: 'write' },
      name: { type: DataTypes.TEXT, allowNull: false },
      description: { type: DataTypes.TEXT, allowNull: true },
      prefix: { type: DataTypes.TEXT, allowNull: false },
      hash: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: true },
      lastUsedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      suspendedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      vouchedBy: { type: DataTypes.UUID, allowNull: true, defaultValue: null },
    },
    {
      sequelize,
      tableName: 'access_tokens',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'access_tokens_hash', unique: true, fields: ['hash'] },
        { name: 'access_tokens_account_id', fields: ['account_id', 'id'] },
        { name: 'access_tokens_app_id', fields: ['app_id', 'id'] },
        { name: 'access_tokens_expires_at', fields: ['kind', 'expires_at'] },
      ],
    },
  );
}
