import { DataTypes, QueryTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/** The host that an LDAP key came from, and an index of the keys of removed connections. */
export const formerKeys: Migration = {
  name: '0021-former-keys',
  async up({ queryInterface: schema, sequelize }) {
    await schema.addColumn('identities', 'server', { type: DataTypes.TEXT, allowNull: true });
    await schema.addIndex('identities', ['organization_id', 'subject'], {
      name: 'identities_organization_subject',
    });
    const directories = await sequelize.query<{ id: string; uri: string }>(
      'SELECT id, uri FROM ldap_connections',
      { type: QueryTypes.SELECT },
    );
    for (const { id, uri } of directories) {
      await sequelize.query('UPDATE identities SET server = $1 WHERE connection_id = $2', {
        bind: [new URL(uri).hostname, id],
      });
    }
  },
};
