import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The operator's one-time sign-in links. */
export const loginLinks: Migration = {
  name: '0015-login-links',
  async up({ queryInterface: schema }) {
    await schema.createTable('login_links', {
      id: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      account_id: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      expires_at: { type: DataTypes.DATE, allowNull: false },
    });
    await schema.addIndex('login_links', ['account_id'], {
      name: 'login_links_account_id',
      unique: true,
    });
    await schema.addIndex('login_links', ['expires_at'], { name: 'login_links_expires_at' });
  },
};
