import { Op } from 'sequelize';
import type { Migration } from './migration.ts';

/**
 * Narrow indexes for the sweep. One contains only unverified accounts with a password, so none that
 * provisioning made without one. The other sorts by the key that sealed the secret.
 */
export const narrowIndexes: Migration = {
  name: '0032-narrow-indexes',
  async up({ queryInterface: schema, sequelize }) {
    await schema.removeIndex('accounts', 'accounts_unproved');
    await schema.addIndex('accounts', ['id'], {
      name: 'accounts_unproved',
      where: { email_proof: 'none', password_hash: { [Op.ne]: null } },
    });
    await schema.removeIndex('accounts', 'accounts_sealed');
    await schema.addIndex('accounts', {
      name: 'accounts_sealed',
      fields: [
        { name: 'totp_secret', collate: sequelize.getDialect() === 'sqlite' ? 'BINARY' : 'C' },
      ],
      where: { totp_secret: { [Op.ne]: null } },
    });
  },
};
