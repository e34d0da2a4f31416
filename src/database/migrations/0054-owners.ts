import type { Migration } from './migration.ts';

/** Finds the owners of an organization without reading its other members. */
export const owners: Migration = {
  name: '0054-owners',
  async up({ queryInterface: schema }) {
    await schema.addIndex('memberships', ['organization_id', 'account_id'], {
      name: 'memberships_owners',
      where: { role: 'owner' },
    });
  },
};
