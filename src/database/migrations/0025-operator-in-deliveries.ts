import type { Migration } from './migration.ts';

const inSqlite = `UPDATE webhook_deliveries SET body = json_set(body, '$.data.actor.name', 'operator')
  WHERE json_extract(body, '$.data.actor.kind') = 'operator'`;
const inPostgres = `UPDATE webhook_deliveries
  SET body = jsonb_set(body::jsonb, '{data,actor,name}', '"operator"')::text
  WHERE body::jsonb #>> '{data,actor,kind}' = 'operator'`;

/**
 * Renames the operator to `operator` in stored deliveries: they may still be sent, and
 * organizations read them (security X9).
 */
export const operatorInDeliveries: Migration = {
  name: '0025-operator-in-deliveries',
  async up({ sequelize, dialect }) {
    await sequelize.query(dialect === 'sqlite' ? inSqlite : inPostgres);
  },
};
