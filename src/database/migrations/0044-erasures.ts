import { DataTypes, literal } from 'sequelize';
import type { Migration } from './migration.ts';

/** The accounts whose personal data the events must lose, and indexes to find those events. */
export const erasures: Migration = {
  name: '0044-erasures',
  async up({ queryInterface: schema }) {
    await schema.createTable('erasures', {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      email: { type: DataTypes.TEXT, allowNull: true },
      deleted_at: { type: DataTypes.DATE, allowNull: false },
    });
    await schema.addIndex('events', {
      name: 'events_about',
      fields: [literal(`(COALESCE(data ->> 'account', subject ->> 'id', data ->> 'email'))`), 'id'],
    });
    await schema.addIndex('events', {
      name: 'events_actor',
      fields: [literal(`(actor ->> 'id')`), 'id'],
      where: literal(`(actor ->> 'id') IS NOT NULL`),
    });
  },
};
