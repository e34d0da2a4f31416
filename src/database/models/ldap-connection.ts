import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from 'sequelize';

/** An organization's LDAP connection (spec §2.5). */
export class LdapConnection extends Model<
  InferAttributes<LdapConnection>,
  InferCreationAttributes<LdapConnection>
> {
  declare id: string;
  declare organizationId: string;
  declare uri: string;
  /** With `ldap://` it means StartTLS. */
  declare tls: boolean;
  /** What its TLS trusts, PEM; null means what this instance trusts. */
  declare caCertificate: string | null;
  declare bindDn: string;
  /** Sealed. */
  declare bindPassword: string;
  declare searchBase: string;
  declare searchFilter: string;
  declare emailAttribute: string;
  declare givenNameAttribute: string;
  declare familyNameAttribute: string;
  /** Null means that groups are not read. */
  declare groupsAttribute: string | null;
  declare enabled: boolean;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initLdapConnection(sequelize: Sequelize): void {
  LdapConnection.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, allowNull: false },
      organizationId: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      uri: { type: DataTypes.TEXT, allowNull: false },
      tls: { type: DataTypes.BOOLEAN, allowNull: false },
      caCertificate: { type: DataTypes.TEXT, allowNull: true },
      bindDn: { type: DataTypes.TEXT, allowNull: false },
      bindPassword: { type: DataTypes.TEXT, allowNull: false },
      searchBase: { type: DataTypes.TEXT, allowNull: false },
      searchFilter: { type: DataTypes.TEXT, allowNull: false },
      emailAttribute: { type: DataTypes.TEXT, allowNull: false },
      givenNameAttribute: { type: DataTypes.TEXT, allowNull: false },
      familyNameAttribute: { type: DataTypes.TEXT, allowNull: false },
      groupsAttribute: { type: DataTypes.TEXT, allowNull: true },
      enabled: { type: DataTypes.BOOLEAN, allowNull: false },
      createdAt: { type: DataTypes.DATE, allowNull: false },
    },
    {
      sequelize,
      tableName: 'ldap_connections',
      underscored: true,
      timestamps: false,
      indexes: [{ name: 'ldap_connections_organization_id', unique: true, fields: ['organization_id'] }],
    },
  );
}
