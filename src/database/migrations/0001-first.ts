import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const json = { type: DataTypes.JSON, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const flag = { type: DataTypes.BOOLEAN, allowNull: false };
const key = { primaryKey: true };
const optional = { allowNull: true };
const to = (model: string, onDelete = 'CASCADE') => ({
  references: { model, key: 'id' },
  onDelete,
});

/** Accounts, organizations, sessions, events, the outbox, keys, domains and single sign-on. */
export const first: Migration = {
  name: '0001-first',
  async up({ queryInterface: schema }) {
    await schema.createTable('accounts', {
      id: { ...uuid, ...key },
      email: { ...text, ...optional },
      email_proof: text,
      name: text,
      locale: { ...text, defaultValue: 'en' },
      password_hash: { ...text, ...optional },
      disabled_at: { ...time, ...optional },
      created_at: time,
    });
    await schema.addIndex('accounts', ['email'], { name: 'accounts_email', unique: true });

    await schema.createTable('organizations', {
      id: { ...uuid, ...key },
      slug: text,
      name: text,
      created_at: time,
    });
    await schema.addIndex('organizations', ['slug'], { name: 'organizations_slug', unique: true });

    await schema.createTable('memberships', {
      organization_id: { ...uuid, ...key, ...to('organizations') },
      account_id: { ...uuid, ...key, ...to('accounts') },
      role: text,
      origin: json,
      joined_at: time,
    });
    await schema.addIndex('memberships', ['account_id'], { name: 'memberships_account_id' });

    await schema.createTable('tombstones', {
      organization_id: { ...uuid, ...key, ...to('organizations') },
      account_id: { ...uuid, ...key, ...to('accounts') },
      set_at: time,
    });
    await schema.addIndex('tombstones', ['account_id'], { name: 'tombstones_account_id' });

    await schema.createTable('identities', {
      id: { ...uuid, ...key },
      account_id: { ...uuid, ...to('accounts') },
      kind: text,
      connection_id: text,
      organization_id: { ...uuid, ...optional, ...to('organizations') },
      issuer: text,
      subject: text,
      linked_at: time,
    });
    await schema.addIndex('identities', ['connection_id', 'issuer', 'subject'], {
      name: 'identities_key',
      unique: true,
    });
    await schema.addIndex('identities', ['connection_id', 'account_id'], {
      name: 'identities_connection_account',
      unique: true,
    });
    await schema.addIndex('identities', ['account_id'], { name: 'identities_account_id' });

    await schema.createTable('sessions', {
      id: { ...uuid, ...key },
      account_id: { ...uuid, ...to('accounts') },
      method: text,
      connection_id: { ...uuid, ...optional },
      organization_id: { ...uuid, ...optional, ...to('organizations', 'SET NULL') },
      address: { ...text, ...optional },
      user_agent: { ...text, ...optional },
      created_at: time,
      last_seen_at: time,
      expires_at: time,
      ended_at: { ...time, ...optional },
    });
    await schema.addIndex('sessions', ['account_id'], { name: 'sessions_account_id' });
    await schema.addIndex('sessions', ['expires_at'], { name: 'sessions_expires_at' });

    await schema.createTable('refresh_tokens', {
      id: { ...uuid, ...key },
      session_id: { ...uuid, ...to('sessions') },
      key_id: text,
      issued_at: time,
      expires_at: time,
      rotated_at: { ...time, ...optional },
      successor_id: { ...uuid, ...optional },
    });
    await schema.addIndex('refresh_tokens', ['session_id'], { name: 'refresh_tokens_session_id' });

    await schema.createTable('events', {
      id: { ...uuid, ...key },
      kind: text,
      at: time,
      organization_id: { ...uuid, ...optional },
      actor: json,
      subject: { ...json, ...optional },
      data: json,
    });
    await schema.addIndex('events', ['organization_id', 'id'], { name: 'events_organization_id' });

    await schema.createTable('outbox', {
      id: { ...uuid, ...key },
      kind: text,
      payload: json,
      created_at: time,
      attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      next_at: time,
    });
    await schema.addIndex('outbox', ['next_at'], { name: 'outbox_next_at' });

    await schema.createTable('signing_keys', {
      id: { ...text, ...key },
      public_jwk: json,
      private_jwk: text,
      created_at: time,
      retired_at: { ...time, ...optional },
    });
    await schema.createTable('key_canaries', {
      key_id: { ...text, ...key },
      sealed: text,
      created_at: time,
    });

    await schema.createTable('domains', {
      id: { ...uuid, ...key },
      organization_id: { ...uuid, ...to('organizations') },
      name: text,
      state: text,
      token: text,
      verified_at: { ...time, ...optional },
      verified_by: { ...text, ...optional },
      created_at: time,
    });
    await schema.addIndex('domains', ['organization_id', 'name'], {
      name: 'domains_organization_name',
      unique: true,
    });
    await schema.addIndex('domains', ['name'], {
      name: 'domains_verified_name',
      unique: true,
      where: { state: 'Verified' },
    });

    await schema.createTable('sso_connections', {
      id: { ...uuid, ...key },
      organization_id: { ...uuid, ...to('organizations') },
      email_domain: { ...text, ...optional },
      issuer: text,
      client_id: text,
      client_secret: text,
      redirect_uri: { ...text, ...optional },
      enabled: flag,
      sync_on_login: flag,
      groups_claim: text,
      auto_remove: flag,
      absent_groups: text,
      ignore_email_verified: flag,
      require_local_two_factor: flag,
      created_at: time,
    });
    await schema.addIndex('sso_connections', ['organization_id'], {
      name: 'sso_connections_organization_id',
      unique: true,
    });
    await schema.addIndex('sso_connections', ['email_domain'], {
      name: 'sso_connections_enabled_domain',
      unique: true,
      where: { enabled: true },
    });

    await schema.createTable('spent_states', { id: { ...text, ...key }, expires_at: time });
    await schema.addIndex('spent_states', ['expires_at'], { name: 'spent_states_expires_at' });
  },
};
