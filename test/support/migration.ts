import { migrations } from '../../src/database/migrations/index.ts';
import { Account } from '../../src/database/models/account.ts';
import { dialectOfDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';

/** Runs one migration again on the open database. The migration must change only rows. */
export async function runMigration(name: string): Promise<void> {
  const { sequelize } = Account;
  const migration = migrations.find((each) => each.name === name);
  if (sequelize === undefined || migration === undefined) throw new Error(`${name} cannot run`);
  const room = {
    queryInterface: sequelize.getQueryInterface(),
    sequelize,
    dialect: dialectOfDatabase(),
  };
  await transaction(() => migration.up(room));
}
