import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const text = { type: DataTypes.TEXT, allowNull: false };
const flag = { type: DataTypes.BOOLEAN, allowNull: false };
const date = { type: DataTypes.DATE, allowNull: false };

/** Passkeys and their sign-in setting, confirmed sessions, and the sources of second factors. */
export const passkeys: Migration = {
  name: '0036-passkeys',
  async up({ queryInterface: schema }) {
    await schema.createTable('passkeys', {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      account_id: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      name: text,
      credential_id: text,
      public_key: text,
      counter: { type: DataTypes.DOUBLE, allowNull: false },
      transports: { type: DataTypes.JSON, allowNull: false },
      backup_eligible: flag,
      backed_up: flag,
      signs_in: { ...flag, allowNull: true },
      vouched_by: { type: DataTypes.UUID, allowNull: true },
      created_at: date,
      last_used_at: { ...date, allowNull: true },
    });
    await schema.addIndex('passkeys', ['credential_id'], {
      name: 'passkeys_credential_id',
      unique: true,
    });
    await schema.addIndex('passkeys', ['account_id'], { name: 'passkeys_account_id' });
    await schema.addColumn('accounts', 'has_passkey', { ...flag, defaultValue: false });
    const vouchedBy = { type: DataTypes.UUID, allowNull: true };
    await schema.addColumn('accounts', 'totp_vouched_by', vouchedBy);
    await schema.addColumn('sessions', 'confirmed_at', { ...date, allowNull: true });
    await schema.addColumn('sessions', 'vouched_by', vouchedBy);
    await schema.addColumn('sign_in_settings', 'passkey', { ...flag, allowNull: true });
  },
};
