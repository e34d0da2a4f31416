import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });

/** Group mappings, and the groups from each person's last sign-in. */
export const groupMappings: Migration = {
  name: '0008-group-mappings',
  async up({ queryInterface: schema }) {
    await schema.createTable('group_mappings', {
      id: { ...uuid, primaryKey: true },
      organization_id: { ...uuid, ...to('organizations') },
      project_id: { ...uuid, ...to('projects') },
      group_name: text,
      role: text,
      created_at: time,
    });
    await schema.addIndex('group_mappings', ['project_id', 'role', 'group_name'], {
      name: 'group_mappings_triple',
      unique: true,
    });
    await schema.addIndex('group_mappings', ['organization_id', 'id'], {
      name: 'group_mappings_organization_id',
    });
    await schema.addColumn('identities', 'last_groups', { type: DataTypes.JSON, allowNull: true });
    await schema.addColumn('identities', 'groups_synced_at', {
      type: DataTypes.DATE,
      allowNull: true,
    });
  },
};
