import { DataTypes, QueryTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The time of the last sweep. At first this is the time of the newest event, or now. */
export const sweeps: Migration = {
  name: '0041-sweeps',
  async up({ queryInterface: schema, sequelize }) {
    const date = { type: DataTypes.DATE, allowNull: false };
    await schema.createTable('sweeps', {
      id: { type: DataTypes.TEXT, allowNull: false, primaryKey: true },
      swept_at: date,
      held_at: { ...date, allowNull: true },
      seen_at: { ...date, allowNull: true },
    });
    const [newest] = await sequelize.query<{ at: string | Date }>(
      'SELECT at FROM events ORDER BY id DESC LIMIT 1',
      { type: QueryTypes.SELECT },
    );
    const now = new Date();
    const at = newest === undefined ? now : new Date(newest.at);
    await schema.bulkInsert('sweeps', [{ id: 'sweep', swept_at: at < now ? at : now }]);
  },
};
