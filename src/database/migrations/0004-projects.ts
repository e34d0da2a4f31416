import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const key = { primaryKey: true };
const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });

/** Projects and their members. */
export const projects: Migration = {
  name: '0004-projects',
  async up({ queryInterface: schema }) {
    await schema.createTable('projects', {
      id: { ...uuid, ...key },
      organization_id: { ...uuid, ...to('organizations') },
      slug: text,
      name: text,
      created_at: time,
    });
    await schema.addIndex('projects', ['organization_id', 'slug'], {
      name: 'projects_organization_slug',
      unique: true,
    });

    await schema.createTable('project_memberships', {
      project_id: { ...uuid, ...key, ...to('projects') },
      account_id: { ...uuid, ...key, ...to('accounts') },
      role: text,
      synced: { type: DataTypes.BOOLEAN, allowNull: false },
      origin: { type: DataTypes.JSON, allowNull: false },
      joined_at: time,
    });
    await schema.addIndex('project_memberships', ['account_id'], {
      name: 'project_memberships_account_id',
    });
  },
};
