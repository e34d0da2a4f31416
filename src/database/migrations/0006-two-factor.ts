import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The second factor of an account. */
export const twoFactor: Migration = {
  name: '0006-two-factor',
  async up({ queryInterface: schema }) {
    await schema.addColumn('accounts', 'totp_secret', { type: DataTypes.TEXT, allowNull: true });
    await schema.addColumn('accounts', 'totp_started_at', { type: DataTypes.DATE, allowNull: true });
    await schema.addColumn('accounts', 'totp_enabled_at', { type: DataTypes.DATE, allowNull: true });
    await schema.addColumn('accounts', 'totp_last_step', { type: DataTypes.INTEGER, allowNull: true });
  },
};
