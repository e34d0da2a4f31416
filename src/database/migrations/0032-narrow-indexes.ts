import { Op } from 'sequelize';
import type { Migration } from './migration.ts';

/**
 * Narrow indexes for the sweep. One has only unverified accounts that signed up, and not those that
 * provisioning made. The other is ordered by the key that sealed.
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
