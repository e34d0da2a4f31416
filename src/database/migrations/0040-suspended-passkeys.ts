import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** Adds the time at which a restore suspended a passkey. */
export const suspendedPasskeys: Migration = {
  name: '0040-suspended-passkeys',
  async up({ queryInterface: schema }) {
    const instant = { type: DataTypes.DATE, allowNull: true };
    await schema.addColumn('passkeys', 'suspended_at', instant);
  },
};
