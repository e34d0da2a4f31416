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

/**
 * An outside key bound to an account: (connection, issuer, subject) (security I1). It outlives its connection, as a
 * former key of the organization.
 */
export class Identity extends Model<InferAttributes<Identity>, InferCreationAttributes<Identity>> {
  declare id: string;
  declare accountId: string;
  declare kind: 'sso' | 'ldap' | 'social';
  /** The SSO or LDAP connection, or the name of the social provider. */
  declare connectionId: string;
  /** The organization of the connection; null for social sign-in. */
  declare organizationId: string | null;
  declare issuer: string;
  declare subject: string;
  /** The host of the directory that named the key; null for SSO and social sign-in, whose issuer says it. */
  declare server: CreationOptional<string | null>;
  declare linkedAt: Date;
  /** The groups of the last sign-in; null when the provider did not say them. */
  declare lastGroups: CreationOptional<string[] | null>;
  /** When groups were first looked at; null before the first sign-in was over. */
  declare groupsSyncedAt: CreationOptional<Date | null>;
  /** There when the query included it. */
  declare account: NonAttribute<Account>;
}

/** Binds the model to the open database. */
export function initIdentity(sequelize: Sequelize): void {
  Identity.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      accountId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      kind: { type: DataTypes.TEXT, allowNull: false },
      connectionId: { type: DataTypes.TEXT, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: true,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      issuer: { type: DataTypes.TEXT, allowNull: false },
      subject: { type: DataTypes.TEXT, allowNull: false },
      server: { type: DataTypes.TEXT, allowNull: true, defaultValue: null },
      linkedAt: { type: DataTypes.DATE, allowNull: false },
      lastGroups: { type: DataTypes.JSON, allowNull: true, defaultValue: null },
      groupsSyncedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
    },
    {
      sequelize,
      tableName: 'identities',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'identities_key', unique: true, fields: ['connection_id', 'issuer', 'subject'] },
        { name: 'identities_connection_account', unique: true, fields: ['connection_id', 'account_id'] },
        { name: 'identities_account_id', fields: ['account_id'] },
        { name: 'identities_organization_subject', fields: ['organization_id', 'subject'] },
      ],
    },
  );
}
