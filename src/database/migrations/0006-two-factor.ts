import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The second factor of an account, and sign-ins that wait for it. */
export const twoFactor: Migration = {
  name: '0006-two-factor',
  async up({ queryInterface: schema }) {
    await schema.addColumn('accounts', 'totp_secret', { type: DataTypes.TEXT, allowNull: true });
    await schema.addColumn('accounts', 'totp_started_at', {
      type: DataTypes.DATE,
      allowNull: true,
    });
    await schema.addColumn('accounts', 'totp_enabled_at', {
      type: DataTypes.DATE,
      allowNull: true,
    });
    await schema.addColumn('accounts', 'totp_last_step', {
      type: DataTypes.INTEGER,
      allowNull: true,
    });

    await schema.createTable('pending_sign_ins', {
      id: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      account_id: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      payload: { type: DataTypes.JSON, allowNull: false },
      expires_at: { type: DataTypes.DATE, allowNull: false },
    });
    await schema.addIndex('pending_sign_ins', ['expires_at'], {
      name: 'pending_sign_ins_expires_at',
    });
    await schema.addIndex('pending_sign_ins', ['account_id'], {
      name: 'pending_sign_ins_account_id',
    });
  },
};
