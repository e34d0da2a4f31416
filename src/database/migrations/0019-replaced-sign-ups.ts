import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/**
 * When a sign-up replaced the contents of an account with an unverified address, and an index of
 * unverified accounts.
 */
export const replacedSignUps: Migration = {
  name: '0019-replaced-sign-ups',
  async up({ queryInterface: schema }) {
    const instant = { type: DataTypes.DATE, allowNull: true };
    await schema.addColumn('accounts', 'sign_up_replaced_at', instant);
    const where = { email_proof: 'none' };
    await schema.addIndex('accounts', ['id'], { name: 'accounts_unproved', where });
  },
};
