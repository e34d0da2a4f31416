import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from 'sequelize';
import type { Role } from './membership.ts';
import type { Organization } from './organization.ts';

/** An address that was asked into an organization (security O6); it works once. */
export class Invitation extends Model<InferAttributes<Invitation>, InferCreationAttributes<Invitation>> {
  declare id: string;
  declare organizationId: string;
  /** Canonical. */
  declare email: string;
  declare role: Role;
  /** The account that invited, or null for the operator. */
  declare invitedBy: string | null;
  /** SHA-256 in hex. */
  declare tokenHash: string;
  /** The account that signed up with it, or accepted it. */
  declare accountId: CreationOptional<string | null>;
  declare acceptedAt: CreationOptional<Date | null>;
  declare createdAt: Date;
  declare expiresAt: Date;
  /** There when the query included it. */
  declare organization: NonAttribute<Organization>;
}

/** Binds the model to the open database. */
export function initInvitation(sequelize: Sequelize): void {
  const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });
  Invitation.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: { type: DataTypes.UUID, allowNull: false, ...to('organizations') },
      email: { type: DataTypes.TEXT, allowNull: false },
      role: { type: DataTypes.TEXT, allowNull: false },
      invitedBy: { type: DataTypes.UUID, allowNull: true, ...to('accounts') },
      tokenHash: { type: DataTypes.TEXT, allowNull: false },
      accountId: { type: DataTypes.UUID, allowNull: true, defaultValue: null, ...to('accounts') },
      acceptedAt: { type: DataTypes.DATE, allowNull: true, defaultValue: null },
      createdAt: { type: DataTypes.DATE, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'invitations',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'invitations_organization_email', unique: true, fields: ['organization_id', 'email'] },
        { name: 'invitations_token_hash', unique: true, fields: ['token_hash'] },
        { name: 'invitations_organization_id', fields: ['organization_id', 'id'] },
        { name: 'invitations_invited_by', fields: ['invited_by'] },
        { name: 'invitations_account_id', fields: ['account_id'] },
        { name: 'invitations_expires_at', fields: ['expires_at'] },
      ],
    },
  );
}
