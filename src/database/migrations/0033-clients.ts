import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const json = { type: DataTypes.JSON, allowNull: false };
const flag = { type: DataTypes.BOOLEAN, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const optional = { allowNull: true };
const to = (model: string, key = 'id') => ({
  references: { model, key },
  onDelete: 'CASCADE',
});

/** Clients (applications that sign people in); origins, tickets and sessions of forward auth. */
export const clients: Migration = {
  name: '0033-clients',
  async up({ queryInterface: schema }) {
    await schema.createTable('clients', {
      id: { ...uuid, primaryKey: true },
      organization_id: { ...uuid, ...to('organizations') },
      name: text,
      secret_hash: { ...text, ...optional },
      redirect_uris: json,
      post_logout_redirect_uris: json,
      backchannel_logout_uri: { ...text, ...optional },
      pkce: flag,
      id_token_alg: text,
      // The database refuses to delete a project that a client requires.
      project_id: {
        ...uuid,
        ...optional,
        references: { model: 'projects', key: 'id' },
        onDelete: 'NO ACTION',
      },
      role: { ...text, ...optional },
      created_at: time,
      suspended_at: { ...time, ...optional },
    });
    await schema.addIndex('clients', ['organization_id', 'name'], {
      name: 'clients_organization_name',
      unique: true,
    });
    await schema.addIndex('clients', ['secret_hash'], {
      name: 'clients_secret_hash',
      unique: true,
    });
    await schema.addIndex('clients', ['project_id'], { name: 'clients_project_id' });

    await schema.createTable('client_origins', {
      origin: { ...text, primaryKey: true },
      client_id: { ...uuid, ...to('clients') },
      by_operator: flag,
    });
    await schema.addIndex('client_origins', ['client_id'], { name: 'client_origins_client_id' });

    await schema.createTable('host_tickets', {
      id: { ...text, primaryKey: true },
      session_id: { ...uuid, ...to('sessions') },
      origin: { ...text, ...to('client_origins', 'origin') },
      browser: text,
      return_to: text,
      expires_at: time,
    });
    await schema.createTable('host_sessions', {
      id: { ...text, primaryKey: true },
      session_id: { ...uuid, ...to('sessions') },
      origin: { ...text, ...to('client_origins', 'origin') },
      created_at: time,
    });
    for (const table of ['host_tickets', 'host_sessions']) {
      await schema.addIndex(table, ['session_id'], { name: `${table}_session_id` });
      await schema.addIndex(table, ['origin'], { name: `${table}_origin` });
    }
    await schema.addIndex('host_tickets', ['expires_at'], { name: 'host_tickets_expires_at' });
  },
};
