import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** An organization's OpenID Connect connection (spec §2.2). */
export class SsoConnection extends Model<
  InferAttributes<SsoConnection>,
  InferCreationAttributes<SsoConnection>
> {
  declare id: string;
  declare organizationId: string;
  /** Canonical; null once another organization has verified it. */
  declare emailDomain: string | null;
  declare issuer: string;
  declare clientId: string;
  /** Sealed. */
  declare clientSecret: string;
  /** Null means the instance's own callback. */
  declare redirectUri: string | null;
  declare enabled: boolean;
  declare syncOnLogin: boolean;
  declare groupsClaim: string;
  declare autoRemove: boolean;
  declare absentGroups: 'unknown' | 'none';
  declare ignoreEmailVerified: boolean;
  declare requireLocalTwoFactor: boolean;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initSsoConnection(sequelize: Sequelize): void {
  SsoConnection.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      emailDomain: { type: DataTypes.TEXT, allowNull: true },
      issuer: { type: DataTypes.TEXT, allowNull: false },
      clientId: { type: DataTypes.TEXT, allowNull: false },
      clientSecret: { type: DataTypes.TEXT, allowNull: false },
      redirectUri: { type: DataTypes.TEXT, allowNull: true },
      enabled: { type: DataTypes.BOOLEAN, allowNull: false },
      syncOnLogin: { type: DataTypes.BOOLEAN, allowNull: false },
      groupsClaim: { type: DataTypes.TEXT, allowNull: false },
      autoRemove: { type: DataTypes.BOOLEAN, allowNull: false },
      absentGroups: { type: DataTypes.TEXT, allowNull: false },
      ignoreEmailVerified: { type: DataTypes.BOOLEAN, allowNull: false },
      requireLocalTwoFactor: { type: DataTypes.BOOLEAN, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'sso_connections',
      underscored: true,
      timestamps: false,
      indexes: [
        { name: 'sso_connections_organization_id', unique: true, fields: ['organization_id'] },
        {
          name: 'sso_connections_enabled_domain',
          unique: true,
          fields: ['email_domain'],
          where: { enabled: true },
        },
      ],
    },
  );
}
