import { directOf, runDirectly } from '../../src/database/direct.ts';
import { servedDatabase } from '../../src/database/select.ts';

/**
 * The first table of each statement that the work runs; `ORM` for a statement of the ORM. Leaves out
 * statements that only lock rows, which PostgreSQL has more of.
 */
export async function tablesOf(work: () => Promise<unknown>): Promise<string[]> {
  const sequelize = servedDatabase();
  const direct = directOf(sequelize);
  const tables: string[] = [];
  const note = (sql: string) => {
    if (/^SELECT id FROM .* FOR (KEY |NO KEY )?(SHARE|UPDATE)$/s.test(sql)) return;
    const table = /\b(?:UPDATE|INTO|FROM)\s+(\w+)/.exec(sql)?.[1];
    if (table !== undefined) tables.push(table);
  };
  runDirectly(sequelize, {
    ...direct,
    read: (sql, ...more) => {
      note(sql);
      return direct.read(sql, ...more);
    },
    run: (connection, sql, ...more) => {
      note(sql);
      return direct.run(connection, sql, ...more);
    },
  });
  sequelize.addHook('beforeQuery', 'statements', () => void tables.push('ORM'));
  try {
    await work();
  } finally {
    sequelize.removeHook('beforeQuery', 'statements');
    runDirectly(sequelize, direct);
  }
  return tables;
}
