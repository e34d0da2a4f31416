import { DataTypes, Op } from 'sequelize';
import type { Migration } from './migration.ts';

type Room = Parameters<Migration['up']>[0];

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const optional = { allowNull: true, defaultValue: null };
const key = { primaryKey: true };
const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });

/**
 * Groups that SCIM clients push, mappings to a role in the organization, and the last known groups
 * of each identity.
 */
export const scimGroups: Migration = {
  name: '0035-scim-groups',
  async up(room) {
    await createGroups(room);
    await widenMappings(room);
    await markMemberships(room);
    const { queryInterface: schema, sequelize } = room;
    await schema.addColumn('identities', 'known_groups', { type: DataTypes.JSON, ...optional });
    // If a connection syncs only at the first sign-in, the last groups may not have been applied.
    await sequelize.query(
      `UPDATE identities SET known_groups = last_groups WHERE connection_id NOT IN
         (SELECT CAST(id AS text) FROM sso_connections WHERE sync_on_login = false)`,
    );
  },
};

async function createGroups({ queryInterface: schema }: Room): Promise<void> {
  await schema.createTable('scim_groups', {
    id: { ...uuid, ...key },
    organization_id: { ...uuid, ...to('organizations') },
    display_name: text,
    display_name_canonical: text,
    external_id: { ...text, ...optional },
    version: { type: DataTypes.INTEGER, allowNull: false },
    created_at: time,
    modified_at: time,
  });
  const index = (name: string, fields: string[], unique = false) =>
    schema.addIndex('scim_groups', fields, { name: `scim_groups_${name}`, unique });
  await index('display_name', ['organization_id', 'display_name_canonical'], true);
  await index('external_id', ['organization_id', 'external_id']);
  await index('order', ['organization_id', 'created_at', 'id']);

  await schema.createTable('scim_group_members', {
    group_id: { ...uuid, ...key, ...to('scim_groups') },
    record_id: { ...uuid, ...key, ...to('scim_records') },
    organization_id: uuid,
    display: { ...text, ...optional },
  });
  await schema.addIndex('scim_group_members', ['record_id'], {
    name: 'scim_group_members_record_id',
  });

  await schema.createTable('scim_replans', {
    organization_id: { ...uuid, ...key, ...to('organizations') },
    account_id: { ...uuid, ...key, ...to('accounts') },
  });
  await schema.addIndex('scim_replans', ['account_id'], { name: 'scim_replans_account_id' });
}

/** Lets a mapping give a role in the organization, in place of a role in a project. */
async function widenMappings({ queryInterface: schema, sequelize, dialect }: Room): Promise<void> {
  if (dialect === 'postgres') {
    await sequelize.query(
      'ALTER TABLE group_mappings ALTER COLUMN project_id DROP NOT NULL, ALTER COLUMN role DROP NOT NULL',
    );
    await schema.addColumn('group_mappings', 'org_role', { ...text, ...optional });
  } else {
    // SQLite cannot drop a constraint. No table refers to this one.
    await schema.createTable('group_mappings_new', {
      id: { ...uuid, ...key },
      organization_id: { ...uuid, ...to('organizations') },
      project_id: { ...uuid, ...to('projects'), ...optional },
      group_name: text,
      role: { ...text, ...optional },
      created_at: time,
      org_role: { ...text, ...optional },
    });
    const columns = 'id, organization_id, project_id, group_name, role, created_at';
    await sequelize.query(
      `INSERT INTO group_mappings_new (${columns}) SELECT ${columns} FROM group_mappings`,
    );
    await schema.dropTable('group_mappings');
    await sequelize.query('ALTER TABLE group_mappings_new RENAME TO group_mappings');
    await schema.addIndex('group_mappings', ['project_id', 'role', 'group_name'], {
      name: 'group_mappings_triple',
      unique: true,
    });
    await schema.addIndex('group_mappings', ['organization_id', 'id'], {
      name: 'group_mappings_organization_id',
    });
  }
  await schema.addIndex('group_mappings', ['organization_id', 'group_name'], {
    name: 'group_mappings_group_name',
  });
  await schema.addIndex('group_mappings', ['organization_id', 'org_role', 'group_name'], {
    name: 'group_mappings_org_role',
    unique: true,
    where: { org_role: { [Op.ne]: null } },
  });
}

/** Marks the roles that SCIM, SSO or LDAP gave. Until now, a role above member was set by hand. */
async function markMemberships({ queryInterface: schema, sequelize }: Room): Promise<void> {
  const synced = { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false };
  await schema.addColumn('memberships', 'synced', synced);
  await sequelize.query(
    `UPDATE memberships SET synced = true
      WHERE role = 'member' AND origin ->> 'kind' IN ('scim', 'sso', 'ldap')`,
  );
}
