import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** When a sign-up took the place of another on an account whose address nobody has proved. */
export const replacedSignUps: Migration = {
  name: '0019-replaced-sign-ups',
  async up({ queryInterface: schema }) {
    const instant = { type: DataTypes.DATE, allowNull: true };
    await schema.addColumn('accounts', 'sign_up_replaced_at', instant);
  },
};
