import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const optional = { allowNull: true };
const ofClient = { references: { model: 'clients', key: 'id' }, onDelete: 'CASCADE' };

/** The records of idctl's OpenID provider, and sign-outs that clients must be notified about. */
export const providerRecords: Migration = {
  name: '0034-provider-records',
  async up({ queryInterface: schema }) {
    await schema.createTable('provider_records', {
      id: { ...text, primaryKey: true },
      model: text,
      grant_id: text,
      session_id: uuid,
      client_id: { ...uuid, ...ofClient },
      payload: { type: DataTypes.JSON, allowNull: false },
      expires_at: time,
      consumed_at: { ...time, ...optional },
    });
    await schema.addIndex('provider_records', ['grant_id'], { name: 'provider_records_grant_id' });
    await schema.addIndex('provider_records', ['client_id'], {
      name: 'provider_records_client_id',
    });
    await schema.addIndex('provider_records', ['expires_at'], {
      name: 'provider_records_expires_at',
    });
    await schema.addIndex('provider_records', ['session_id', 'client_id'], {
      name: 'provider_records_grant',
      unique: true,
      where: { model: 'Grant' },
    });

    await schema.createTable('client_sign_outs', {
      id: { ...uuid, primaryKey: true },
      client_id: { ...uuid, ...ofClient },
      sid: text,
      sub: text,
      attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      next_at: time,
      at: time,
    });
    await schema.addIndex('client_sign_outs', ['client_id'], {
      name: 'client_sign_outs_client_id',
    });
    await schema.addIndex('client_sign_outs', ['next_at'], { name: 'client_sign_outs_next_at' });
  },
};
