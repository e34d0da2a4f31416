import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });

/** OAuth apps, and the app that each bot token was created for. */
export const apps: Migration = {
  name: '0011-apps',
  async up({ queryInterface: schema }) {
    await schema.createTable('apps', {
      id: { ...uuid, primaryKey: true },
      account_id: { ...uuid, ...to('accounts') },
      name: text,
      client_id: text,
      secret_hash: text,
      created_at: { type: DataTypes.DATE, allowNull: false },
    });
    await schema.addIndex('apps', ['client_id'], { name: 'apps_client_id', unique: true });
    await schema.addIndex('apps', ['secret_hash'], { name: 'apps_secret_hash', unique: true });
    await schema.addIndex('apps', ['account_id', 'id'], { name: 'apps_account_id' });

    await schema.addColumn('access_tokens', 'app_id', { ...uuid, allowNull: true, ...to('apps') });
    await schema.addIndex('access_tokens', ['app_id', 'id'], { name: 'access_tokens_app_id' });
    await schema.addIndex('access_tokens', ['kind', 'expires_at'], {
      name: 'access_tokens_expires_at',
    });
  },
};
