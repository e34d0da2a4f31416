import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const time = { type: DataTypes.DATE, allowNull: false };
const optional = { allowNull: true };
const to = (model: string) => ({ references: { model, key: 'id' }, onDelete: 'CASCADE' });

/** Webhooks and their deliveries. */
export const webhooks: Migration = {
  name: '0016-webhooks',
  async up({ queryInterface: schema }) {
    await schema.createTable('webhooks', {
      id: { ...uuid, primaryKey: true },
      organization_id: { ...uuid, ...to('organizations') },
      url: text,
      events: { type: DataTypes.JSON, allowNull: true },
      secret: text,
      previous_secret: { ...text, ...optional },
      previous_until: { ...time, ...optional },
      enabled: { type: DataTypes.BOOLEAN, allowNull: false },
      failing_since: { ...time, ...optional },
      paused_until: { ...time, ...optional },
      lease_id: { ...uuid, ...optional },
      leased_until: { ...time, ...optional },
      created_at: time,
    });
    await schema.addIndex('webhooks', ['organization_id', 'id'], {
      name: 'webhooks_organization_id',
    });

    await schema.createTable('webhook_deliveries', {
      id: { ...uuid, primaryKey: true },
      webhook_id: { ...uuid, ...to('webhooks') },
      event: text,
      body: text,
      at: time,
      status: text,
      attempts: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
      next_at: { ...time, ...optional },
      response_status: { type: DataTypes.INTEGER, allowNull: true },
      error: { ...text, ...optional },
      ended_at: { ...time, ...optional },
    });
    await schema.addIndex('webhook_deliveries', ['webhook_id', 'id'], {
      name: 'webhook_deliveries_webhook_id',
    });
    // These indexes contain only waiting deliveries, however many were delivered already.
    await schema.addIndex('webhook_deliveries', ['webhook_id', 'id'], {
      name: 'webhook_deliveries_waiting',
      where: { status: 'waiting' },
    });
    await schema.addIndex('webhook_deliveries', ['webhook_id', 'next_at'], {
      name: 'webhook_deliveries_due',
      where: { status: 'waiting' },
    });
    await schema.addIndex('webhook_deliveries', ['status', 'ended_at'], {
      name: 'webhook_deliveries_ended_at',
    });
  },
};
