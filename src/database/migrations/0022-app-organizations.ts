import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const administered = `FROM memberships m
  WHERE m.account_id = apps.account_id AND m.role IN ('admin', 'owner')`;

/**
 * The organization whose members' tokens an app may introspect. An existing app gets the
 * organization that its owner administers, if there is exactly one.
 */
export const appOrganizations: Migration = {
  name: '0022-app-organizations',
  async up({ queryInterface: schema, sequelize }) {
    await schema.addColumn('apps', 'organization_id', {
      type: DataTypes.UUID,
      allowNull: true,
      references: { model: 'organizations', key: 'id' },
      onDelete: 'SET NULL',
    });
    await schema.addIndex('apps', ['organization_id'], { name: 'apps_organization_id' });
    await sequelize.query(
      `UPDATE apps SET organization_id = (SELECT m.organization_id ${administered})
        WHERE (SELECT COUNT(*) ${administered}) = 1`,
    );
  },
};
