import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** When the daemon last tried to read the metadata of a SAML provider. */
export const metadataTries: Migration = {
  name: '0053-metadata-tries',
  async up({ queryInterface: schema }) {
    await schema.addColumn('sso_connections', 'metadata_tried_at', {
      type: DataTypes.DATE,
      allowNull: true,
    });
  },
};
