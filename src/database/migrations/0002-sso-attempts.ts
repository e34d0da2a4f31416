import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const text = { type: DataTypes.TEXT, allowNull: false };
const flag = { type: DataTypes.BOOLEAN, allowNull: false };
const optional = { allowNull: true };

/** The latest sign-in attempts of each connection. */
export const ssoAttempts: Migration = {
  name: '0002-sso-attempts',
  async up({ queryInterface: schema }) {
    await schema.createTable('sso_attempts', {
      id: { type: DataTypes.UUID, allowNull: false, primaryKey: true },
      connection_id: {
        type: DataTypes.UUID,
        allowNull: false,
        references: { model: 'sso_connections', key: 'id' },
        onDelete: 'CASCADE',
      },
      at: { type: DataTypes.DATE, allowNull: false },
      stage: text,
      ok: flag,
      code: { ...text, ...optional },
      email: { ...text, ...optional },
      groups: { type: DataTypes.JSON, allowNull: true },
      groups_malformed: flag,
    });
    await schema.addIndex('sso_attempts', ['connection_id', 'id'], {
      name: 'sso_attempts_connection_id',
    });
    await schema.addIndex('sso_attempts', ['at'], { name: 'sso_attempts_at' });
  },
};
