import { literal } from 'sequelize';
import type { Migration } from './migration.ts';

/** An index to find the events of a kind in an organization. */
export const eventKinds: Migration = {
  name: '0047-event-kinds',
  async up({ queryInterface: schema }) {
    await schema.addIndex('events', {
      name: 'events_kind',
      fields: ['organization_id', 'kind', 'id'],
      where: literal('organization_id IS NOT NULL'),
    });
  },
};
