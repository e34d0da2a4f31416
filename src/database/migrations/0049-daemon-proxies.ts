import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** What else a daemon reports: its process, and a proxy that it does not trust. */
export const daemonProxies: Migration = {
  name: '0049-daemon-proxies',
  async up({ queryInterface: schema }) {
    await schema.addColumn('daemons', 'pid', { type: DataTypes.INTEGER, allowNull: true });
    await schema.addColumn('daemons', 'proxy', { type: DataTypes.TEXT, allowNull: true });
  },
};
