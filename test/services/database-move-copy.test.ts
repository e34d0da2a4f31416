import { expect, onTestFinished, test } from 'vitest';
import { connectPlain } from '../../src/database/plain-connection.ts';
import { listTables } from '../../src/database/tables.ts';
import { compareTable, sumTable } from '../../src/services/instance/move/copy.ts';
import { copyOfDatabase, openFreshDatabase } from '../support/database.ts';
import { install } from '../support/installation.ts';
import { changeAt } from '../support/move.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';

test.each([
  ['one letter of one value is another', "UPDATE accounts SET name = 'Olga X'"],
  ['one value is absent', 'UPDATE accounts SET password_hash = NULL'],
])(
  'a copy of a table is refused if %s, although the numbers of rows are equal',
  async (_, change) => {
    const site = await install();
    onTestFinished(() => site.close());
    const { sequelize, close } = await openFreshDatabase();
    const table = listTables(sequelize).find(({ name }) => name === 'accounts');
    await close();
    if (table === undefined) throw new Error('there is no table of accounts');
    const copy = await copyOfDatabase(site.database);
    const [from, to] = await Promise.all(
      [site.database, copy].map((url) => connectPlain({ url, sqliteDriver }, 5_000)),
    );
    if (from === undefined || to === undefined) throw new Error('a database is not open');
    onTestFinished(async () => {
      await from.close();
      await to.close();
    });
    const copying = { from, to, table, progress: () => undefined };
    const sum = await sumTable(from, table);
    expect(sum.rows).toBe(1);
    await compareTable(copying, sum);
    await changeAt(copy, change);
    await expect(compareTable(copying, sum)).rejects.toMatchObject({
      code: 'conflict',
      message: 'The copy of the table accounts differs from the original (1 rows, copied 1).',
    });
  },
);
