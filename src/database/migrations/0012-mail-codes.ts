import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const instant = { type: DataTypes.DATE, allowNull: false };

/** Mailed codes, each bound to its account and purpose. */
export const mailCodes: Migration = {
  name: '0012-mail-codes',
  async up({ queryInterface: schema }) {
    await schema.createTable('mail_codes', {
      account_id: {
        ...uuid,
        primaryKey: true,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      purpose: { ...text, primaryKey: true },
      hash: text,
      tries: { type: DataTypes.INTEGER, allowNull: false },
      expires_at: instant,
    });
    await schema.addIndex('mail_codes', ['expires_at'], { name: 'mail_codes_expires_at' });
  },
};
