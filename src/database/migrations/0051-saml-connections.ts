import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The settings of a SAML connection, which is a single sign-on connection of another kind. */
export const samlConnections: Migration = {
  name: '0051-saml-connections',
  async up({ queryInterface: schema }) {
    const add = (column: string, as: Parameters<typeof schema.addColumn>[2]) =>
      schema.addColumn('sso_connections', column, as);
    await add('kind', { type: DataTypes.TEXT, allowNull: false, defaultValue: 'oidc' });
    await add('metadata_url', { type: DataTypes.TEXT, allowNull: true });
    await add('metadata', { type: DataTypes.JSON, allowNull: true });
    await add('metadata_read_at', { type: DataTypes.DATE, allowNull: true });
    await add('email_attribute', { type: DataTypes.TEXT, allowNull: true });
    await add('groups_attribute', { type: DataTypes.TEXT, allowNull: true });
    await add('subject_attribute', { type: DataTypes.TEXT, allowNull: true });
    await add('encrypt_assertions', {
      type: DataTypes.BOOLEAN,
      allowNull: false,
      defaultValue: false,
    });
    await add('keys_since', { type: DataTypes.DATE, allowNull: true });
  },
};
