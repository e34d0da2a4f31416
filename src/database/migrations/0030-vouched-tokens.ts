import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** Which organization's provider alone stands behind a token or an app; of those that are there it is not known. */
export const vouchedTokens: Migration = {
  name: '0030-vouched-tokens',
  async up({ queryInterface: schema }) {
    for (const table of ['access_tokens', 'apps']) {
      await schema.addColumn(table, 'vouched_by', { type: DataTypes.UUID, allowNull: true });
    }
  },
};
