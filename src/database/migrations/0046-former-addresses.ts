import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The addresses that removed people have given up, as hashes. */
export const formerAddresses: Migration = {
  name: '0046-former-addresses',
  async up({ queryInterface: schema }) {
    await schema.createTable('former_addresses', {
      organization_id: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      hash: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      created_at: { type: DataTypes.DATE, allowNull: false },
    });
    await schema.addIndex('former_addresses', ['hash'], { name: 'former_addresses_hash' });
  },
};
