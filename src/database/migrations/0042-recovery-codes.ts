import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** Recovery codes, and the instance's own keys, such as the one of their hashes (security P17). */
export const recoveryCodes: Migration = {
  name: '0042-recovery-codes',
  async up({ queryInterface: schema }) {
    const text = { type: DataTypes.TEXT, allowNull: false };
    const flag = { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false };
    const date = { type: DataTypes.DATE, allowNull: false };
    await schema.createTable('recovery_codes', {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      account_id: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      hash: text,
      vouched_by: { type: DataTypes.UUID, allowNull: true },
      unapproved: flag,
      created_at: date,
    });
    await schema.addIndex('recovery_codes', ['account_id'], { name: 'recovery_codes_account_id' });
    await schema.createTable('instance_keys', {
      id: { ...text, primaryKey: true },
      sealed: text,
      created_at: date,
    });
    await schema.addColumn('accounts', 'has_recovery_codes', flag);
  },
};
