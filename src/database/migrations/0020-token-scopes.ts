import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/**
 * The scope of a token, and when a session passed the account's own second factor, checked by
 * idctl.
 */
export const addTokenScopes: Migration = {
  name: '0020-token-scopes',
  async up({ queryInterface: schema }) {
    const scope = { type: DataTypes.TEXT, allowNull: false, defaultValue: 'write' };
    await schema.addColumn('access_tokens', 'scope', scope);
    await schema.addColumn('sessions', 'second_factor_at', {
      type: DataTypes.DATE,
      allowNull: true,
    });
  },
};
