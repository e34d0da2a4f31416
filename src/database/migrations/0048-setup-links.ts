import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const uuid = { type: DataTypes.UUID, allowNull: false };
const text = { type: DataTypes.TEXT, allowNull: false };
const json = { type: DataTypes.JSON, allowNull: false };
const instant = { type: DataTypes.DATE, allowNull: false };

/** Links with which people without an account set up sign-in. */
export const setupLinks: Migration = {
  name: '0048-setup-links',
  async up({ queryInterface: schema }) {
    await schema.createTable('setup_links', {
      id: { ...uuid, primaryKey: true },
      organization_id: {
        ...uuid,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      token_hash: text,
      parts: json,
      email: { ...text, allowNull: true },
      made_by: json,
      account_id: {
        ...uuid,
        allowNull: true,
        references: { model: 'accounts', key: 'id' },
        onDelete: 'CASCADE',
      },
      created_at: instant,
      expires_at: instant,
      browser_hash: { ...text, allowNull: true },
      claimed_at: { ...instant, allowNull: true },
    });
    const named = (name: string, unique = false) => ({ name: `setup_links_${name}`, unique });
    await schema.addIndex('setup_links', ['token_hash'], named('token_hash', true));
    await schema.addIndex('setup_links', ['browser_hash'], named('browser_hash', true));
    await schema.addIndex('setup_links', ['organization_id', 'id'], named('organization_id'));
    await schema.addIndex('setup_links', ['account_id'], named('account_id'));
    await schema.addIndex('setup_links', ['expires_at'], named('expires_at'));
  },
};
