import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The time since when a token or an app from a restored backup is refused. */
export const suspensions: Migration = {
  name: '0018-suspensions',
  async up({ queryInterface: schema }) {
    for (const table of ['access_tokens', 'apps', 'scim_tokens']) {
      await schema.addColumn(table, 'suspended_at', { type: DataTypes.DATE, allowNull: true });
    }
  },
};
