import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The running daemons, each with a digest of the configuration file it has read. */
export const daemons: Migration = {
  name: '0029-daemons',
  async up({ queryInterface: schema }) {
    await schema.createTable('daemons', {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      host: { type: DataTypes.TEXT, allowNull: false },
      listen: { type: DataTypes.TEXT, allowNull: false },
      config_file: { type: DataTypes.TEXT, allowNull: false },
      config_digest: { type: DataTypes.TEXT, allowNull: false },
      seen_at: { type: DataTypes.DATE, allowNull: false },
    });
  },
};
