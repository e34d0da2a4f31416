import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const flag = { type: DataTypes.BOOLEAN, allowNull: false };
const optional = { allowNull: true };

/** LDAP connections. */
export const ldap: Migration = {
  name: '0010-ldap',
  async up({ queryInterface: schema }) {
    await schema.createTable('ldap_connections', {
      id: { ...uuid, primaryKey: true },
      organization_id: {
        ...uuid,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      uri: text,
      tls: flag,
      ca_certificate: { ...text, ...optional },
      bind_dn: text,
      bind_password: text,
      search_base: text,
      search_filter: text,
      email_attribute: text,
      given_name_attribute: text,
      family_name_attribute: text,
      groups_attribute: { ...text, ...optional },
      enabled: flag,
      created_at: { type: DataTypes.DATE, allowNull: false },
    });
    await schema.addIndex('ldap_connections', ['organization_id'], {
      name: 'ldap_connections_organization_id',
      unique: true,
    });
  },
};
