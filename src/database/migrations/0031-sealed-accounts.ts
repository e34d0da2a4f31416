import { Op } from 'sequelize';
import type { Migration } from './migration.ts';

/** An index of the accounts with a sealed secret, so that re-sealing does not read every account. */
export const sealedAccounts: Migration = {
  name: '0031-sealed-accounts',
  async up({ queryInterface: schema }) {
    const where = { totp_secret: { [Op.ne]: null } };
    await schema.addIndex('accounts', ['id'], { name: 'accounts_sealed', where });
  },
};
