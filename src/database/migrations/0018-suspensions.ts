import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** Since when a token or an app, found in a restored backup, is not accepted. */
export const suspensions: Migration = {
  name: '0018-suspensions',
  async up({ queryInterface: schema }) {
    for (const table of ['access_tokens', 'apps', 'scim_tokens']) {
      await schema.addColumn(table, 'suspended_at', { type: DataTypes.DATE, allowNull: true });
    }
  },
};
