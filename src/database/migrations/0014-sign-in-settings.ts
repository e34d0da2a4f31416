import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

const choice = { type: DataTypes.BOOLEAN, allowNull: true };

/** Sign-in settings of organizations. */
export const signInSettings: Migration = {
  name: '0014-sign-in-settings',
  async up({ queryInterface: schema }) {
    await schema.createTable('sign_in_settings', {
      organization_id: {
        type: DataTypes.UUID,
        allowNull: false,
        primaryKey: true,
        references: { model: 'organizations', key: 'id' },
        onDelete: 'CASCADE',
      },
      password: choice,
      magic_code: choice,
      google: choice,
      github: choice,
      allow_self_signup: choice,
      restrict_oauth_to_verified_domains: choice,
    });
  },
};
