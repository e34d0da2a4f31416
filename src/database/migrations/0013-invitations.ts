import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const instant = { type: DataTypes.DATE, allowNull: false };
const account = {
  ...uuid,
  allowNull: true,
  references: { model: 'accounts', key: 'id' },
  onDelete: 'CASCADE',
};

/** Invitations into organizations. */
export const invitations: Migration = {
  name: '0013-invitations',
  async up({ queryInterface: schema }) {
    await schema.createTable('invitations', {
      id: { ...uuid, primaryKey: true },
      organization_id: {
        ...uuid,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      email: text,
      role: text,
      invited_by: account,
      token_hash: text,
      account_id: account,
      accepted_at: { type: DataTypes.DATE, allowNull: true },
      created_at: instant,
      expires_at: instant,
    });
    const named = (name: string, unique = false) => ({ name: `invitations_${name}`, unique });
    await schema.addIndex(
      'invitations',
      ['organization_id', 'email'],
      named('organization_email', true),
    );
    await schema.addIndex('invitations', ['token_hash'], named('token_hash', true));
    await schema.addIndex('invitations', ['organization_id', 'id'], named('organization_id'));
    await schema.addIndex('invitations', ['invited_by'], named('invited_by'));
    await schema.addIndex('invitations', ['account_id'], named('account_id'));
    await schema.addIndex('invitations', ['expires_at'], named('expires_at'));
  },
};
