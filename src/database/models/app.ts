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
import type { Organization } from './organization.ts';

/** An OAuth app: a confidential client that acts as its owner (spec §2.8); one that is revoked is gone. */
export class OAuthApp extends Model<InferAttributes<OAuthApp>, InferCreationAttributes<OAuthApp>> {
  declare id: string;
  /** The owner. */
  declare accountId: string;
  /** The organization about whose tokens it may ask (security O9). */
  declare organizationId: CreationOptional<string | null>;
  declare name: string;
  declare clientId: string;
  /** SHA-256 of the client secret, in hex. */
  declare secretHash: string;
  declare createdAt: Date;
  /** Since when it is not accepted, having come out of a backup; until its secret is regenerated. */
  declare suspendedAt: CreationOptional<Date | null>;
  /** The organization whose provider began the session in which its value was made, without a second factor (security P12). */
  declare vouchedBy: CreationOptional<string | null>;
  declare account: NonAttribute<Account>;
  /** There when the query included it, and the app has one. */
  declare organization: NonAttribute<Organization | null | undefined>;
}

/** Binds the model to the open database. */
export function initOAuthApp(sequelize: Sequelize): void {
  OAuthApp.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: true,
        defaultValue: null,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'SET NULL',
      },
      name: { type: DataTypes.TEXT, allowNull: false },
      clientId: { type: DataTypes.TEXT, allowNull: false },
      secretHash: { type: DataTypes.TEXT, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      suspendedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      vouchedBy: { type: DataTypes.UUID, allowNull: true, defaultValue: null },
    },
    {
      sequelize,
      tableName: 'apps',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'apps_client_id', unique: true, fields: ['client_id'] },
        { name: 'apps_secret_hash', unique: true, fields: ['secret_hash'] },
        { name: 'apps_account_id', fields: ['account_id', 'id'] },
        { name: 'apps_organization_id', fields: ['organization_id'] },
      ],
    },
  );
}
