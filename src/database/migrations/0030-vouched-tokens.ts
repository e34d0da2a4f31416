import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/**
 * The organization whose provider alone authenticated the maker of a token or an app. Unknown for
 * existing rows.
 */
export const vouchedTokens: Migration = {
  name: '0030-vouched-tokens',
  async up({ queryInterface: schema }) {
    for (const table of ['access_tokens', 'apps']) {
      await schema.addColumn(table, 'vouched_by', { type: DataTypes.UUID, allowNull: true });
    }
  },
};
