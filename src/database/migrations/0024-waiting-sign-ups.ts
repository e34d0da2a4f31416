import { DataTypes } from 'sequelize';
import type { Migration } from './migration.ts';

/**
 * Whether an account waits for the code mailed to it. An unverified account with a password came
 * from a sign-up, unless provisioning made it: then the operator set the password.
 */
export const waitingSignUps: Migration = {
  name: '0024-waiting-sign-ups',
  async up({ queryInterface: schema, sequelize }) {
    const flag = { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false };
    await schema.addColumn('accounts', 'awaits_code', flag);
    await sequelize.query(
      `UPDATE accounts SET awaits_code = true
        WHERE email_proof = 'none' AND password_hash IS NOT NULL
          AND (sign_up_replaced_at IS NOT NULL OR NOT EXISTS
            (SELECT 1 FROM scim_records WHERE account_id = accounts.id AND link = 'created'))`,
    );
  },
};
