import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const text = { type: DataTypes.TEXT, allowNull: false };
const integer = { type: DataTypes.INTEGER, allowNull: false };
const seconds = { type: DataTypes.DOUBLE, allowNull: false };

/** Counts for limits and for recurring events. */
export const counters: Migration = {
  name: '0003-counters',
  async up({ queryInterface: schema }) {
    await schema.createTable('counters', {
      key: { ...text, primaryKey: true },
      subject: text,
      window_id: { type: DataTypes.UUID, allowNull: false },
      used: integer,
      seconds: integer,
      began_at: seconds,
      expires_at: seconds,
    });
    await schema.addIndex('counters', ['subject'], { name: 'counters_subject' });
    await schema.addIndex('counters', ['expires_at'], { name: 'counters_expires_at' });
  },
};
