import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const flag = { type: DataTypes.BOOLEAN, allowNull: false };
const int = { type: DataTypes.INTEGER, allowNull: false };
const key = { primaryKey: true };
const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });

/** SCIM tokens, SCIM records of people, and the latest requests of SCIM clients. */
export const scim: Migration = {
  name: '0009-scim',
  async up({ queryInterface: schema }) {
    await schema.createTable('scim_tokens', {
      organization_id: { ...uuid, ...key, ...to('organizations') },
      prefix: text,
      hash: text,
      created_at: time,
      last_used_at: { ...time, allowNull: true, defaultValue: null },
    });
    await schema.addIndex('scim_tokens', ['hash'], { name: 'scim_tokens_hash', unique: true });

    await schema.createTable('scim_records', {
      id: { ...uuid, ...key },
      organization_id: { ...uuid, ...to('organizations') },
      account_id: { ...uuid, ...to('accounts') },
      link: text,
      user_name: text,
      user_name_canonical: text,
      external_id: { ...text, allowNull: true },
      active: flag,
      hidden: flag,
      resource: text,
      search: { type: DataTypes.JSONB, allowNull: false },
      version: int,
      created_at: time,
      modified_at: time,
    });
    const index = (name: string, fields: string[], unique = false) =>
      schema.addIndex('scim_records', fields, { name: `scim_records_${name}`, unique });
    await index('account', ['account_id', 'organization_id'], true);
    await index('user_name', ['organization_id', 'user_name_canonical'], true);
    await index('external_id', ['organization_id', 'external_id']);
    await index('order', ['organization_id', 'hidden', 'created_at', 'id']);

    await schema.createTable('scim_emails', {
      record_id: { ...uuid, ...key, ...to('scim_records') },
      value_canonical: { ...text, ...key },
      organization_id: uuid,
    });
    await schema.addIndex('scim_emails', ['organization_id', 'value_canonical'], {
      name: 'scim_emails_value',
    });

    await schema.createTable('scim_shifts', {
      organization_id: { ...uuid, ...key, ...to('organizations') },
      count: int,
    });

    await schema.createTable('scim_requests', {
      id: { ...uuid, ...key },
      organization_id: { ...uuid, ...to('organizations') },
      at: time,
      method: text,
      path: text,
      status: int,
      reason: { ...text, allowNull: true },
    });
    await schema.addIndex('scim_requests', ['organization_id', 'id'], {
      name: 'scim_requests_organization_id',
    });
    await schema.addIndex('scim_requests', ['at'], { name: 'scim_requests_at' });
  },
};
