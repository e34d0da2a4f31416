import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The address of an application, for the account page. Existing clients have none. */
export const homeUrls: Migration = {
  name: '0043-home-urls',
  async up({ queryInterface: schema }) {
    await schema.addColumn('clients', 'home_url', { type: DataTypes.TEXT, allowNull: true });
  },
};
