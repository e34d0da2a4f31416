import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const text = { type: DataTypes.TEXT, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const optional = { allowNull: true };

/** Personal access tokens and bot tokens. */
export const accessTokens: Migration = {
  name: '0005-access-tokens',
  async up({ queryInterface: schema }) {
    await schema.createTable('access_tokens', {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      account_id: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      kind: text,
      name: text,
      description: { ...text, ...optional },
      prefix: text,
      hash: text,
      created_at: time,
      expires_at: { ...time, ...optional },
      last_used_at: { ...time, ...optional },
    });
    await schema.addIndex('access_tokens', ['hash'], { name: 'access_tokens_hash', unique: true });
    await schema.addIndex('access_tokens', ['account_id', 'id'], {
      name: 'access_tokens_account_id',
    });
  },
};
