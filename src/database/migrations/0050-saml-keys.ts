import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The keys that sign SAML requests, and those that decrypt SAML assertions (security S11). */
export const samlKeys: Migration = {
  name: '0050-saml-keys',
  async up({ queryInterface: schema }) {
    const text = { type: DataTypes.TEXT, allowNull: false };
    const date = { type: DataTypes.DATE, allowNull: false };
    await schema.createTable('saml_keys', {
      id: { ...text, primaryKey: true },
      use: text,
      certificate: text,
      private_key: text,
      created_at: date,
      retired_at: { ...date, allowNull: true },
    });
  },
};
