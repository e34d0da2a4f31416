import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The account that created an organization, to limit how many it creates (security O15). */
export const organizationCreators: Migration = {
  name: '0039-organization-creators',
  async up({ queryInterface: schema, sequelize, dialect }) {
    const column = { type: DataTypes.UUID, allowNull: true };
    await schema.addColumn('organizations', 'created_by', column);
    await schema.addIndex('organizations', ['created_by'], { name: 'organizations_created_by' });
    // Only the creator of an organization has made themselves its owner.
    const id = dialect === 'sqlite' ? 'm.account_id' : 'm.account_id::text';
    await sequelize.query(
      `UPDATE organizations SET created_by = (
         SELECT m.account_id FROM memberships m
          WHERE m.organization_id = organizations.id AND m.origin ->> 'by' = ${id} LIMIT 1)`,
    );
  },
};
