import { expect, test } from 'vitest';
import {
  accountCredentials,
  otherCredentials,
  withoutCredentials,
} from '../../src/services/people/credentials/credentials.ts';
import { openFreshDatabase } from '../support/database.ts';

test('I3 every table that references an account is in exactly one list of credentials.ts, and its rows are deleted with the account', async () => {
  const database = await openFreshDatabase();
  try {
    const models = Object.values(database.sequelize.models);
    const naming = models.flatMap((model) => {
      const columns = Object.values(model.getAttributes()).filter(
        ({ field, references }) =>
          field?.endsWith('account_id') ||
          (typeof references === 'object' &&
            'model' in references &&
            references.model === 'accounts'),
      );
      return columns.length === 0 ? [] : [{ table: String(model.getTableName()), columns }];
    });
    const listed = [...accountCredentials, ...withoutCredentials];
    expect(new Set(listed).size).toBe(listed.length);
    const tables = naming.map(({ table }) => table);
    expect([...tables, 'accounts'].sort()).toEqual([...listed].sort());
    const staying = naming.filter(({ columns }) =>
      columns.some(({ onDelete }) => onDelete !== 'CASCADE'),
    );
    expect(staying.map(({ table }) => table)).toEqual([]);
    const all = models.map((model) => String(model.getTableName()));
    expect(otherCredentials.filter((table) => !all.includes(table))).toEqual([]);
  } finally {
    await database.close();
  }
});
