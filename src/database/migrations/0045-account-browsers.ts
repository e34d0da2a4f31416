import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The browsers from which each account has signed in. */
export const accountBrowsers: Migration = {
  name: '0045-account-browsers',
  async up({ queryInterface: schema }) {
    const date = { type: DataTypes.DATE, allowNull: false };
    await schema.createTable('account_browsers', {
      account_id: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      hash: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      first_seen_at: date,
      last_seen_at: date,
    });
    await schema.addIndex('account_browsers', ['last_seen_at'], {
      name: 'account_browsers_last_seen_at',
    });
  },
};
