import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The reference shown to the person. Earlier attempts have none. */
export const attemptReferences: Migration = {
  name: '0028-attempt-references',
  async up({ queryInterface: schema }) {
    await schema.addColumn('sso_attempts', 'reference', { type: DataTypes.TEXT, allowNull: true });
  },
};
