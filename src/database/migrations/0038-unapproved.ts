import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const marked = [
  ['sessions', 'unapproved'],
  ['identities', 'unapproved'],
  ['access_tokens', 'unapproved'],
  ['apps', 'unapproved'],
  ['passkeys', 'unapproved'],
  ['accounts', 'password_unapproved'],
  ['accounts', 'totp_unapproved'],
] as const;

/** Marks what came through a connection that no owner had approved. Existing rows have no mark. */
export const unapproved: Migration = {
  name: '0038-unapproved',
  async up({ queryInterface: schema }) {
    const flag = { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false };
    for (const [table, column] of marked) await schema.addColumn(table, column, flag);
  },
};
