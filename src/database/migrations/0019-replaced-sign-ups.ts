import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** When a sign-up took the place of what was there on an account whose address nobody has proved, and where those are. */
export const replacedSignUps: Migration = {
  name: '0019-replaced-sign-ups',
  async up({ queryInterface: schema }) {
    const instant = { type: DataTypes.DATE, allowNull: true };
    await schema.addColumn('accounts', 'sign_up_replaced_at', instant);
    const where = { email_proof: 'none' };
    await schema.addIndex('accounts', ['id'], { name: 'accounts_unproved', where });
  },
};
