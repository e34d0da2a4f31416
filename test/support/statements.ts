import { StatementSync } from 'node:sqlite';
import pg from 'pg';
import { vi } from 'vitest';
import { directOf, runDirectly } from '../../src/database/direct.ts';
import { servedDatabase } from '../../src/database/select.ts';
import { dialect } from './database.ts';

/**
 * The first table of each statement that the work runs; `ORM` for a statement of the ORM. Leaves out
 * statements that only lock rows, which PostgreSQL has more of.
 */
export async function tablesOf(work: () => Promise<unknown>): Promise<string[]> {
  const sequelize = servedDatabase();
  const direct = directOf(sequelize);
  const { query } = sequelize;
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
  const ofOrm = vi.spyOn(sequelize, 'query').mockImplementation((sql, ...more) => {
    // From time to time, a transaction also looks for new migrations.
    if (!/\bmigrations\b/.test(JSON.stringify(sql))) tables.push('ORM');
    return query.call(sequelize, sql, ...more);
  });
  try {
    await work();
  } finally {
    ofOrm.mockRestore();
    runDirectly(sequelize, direct);
  }
  return tables;
}

/** The functions through which every statement goes. */
const functions: [object, string][] =
  dialect === 'sqlite'
    ? [
        [StatementSync.prototype, 'all'],
        [StatementSync.prototype, 'run'],
      ]
    : [[pg.Client.prototype, 'query']];

/** The number of statements that the driver runs during the work. */
export async function countStatements(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const restore = functions.map(([owner, name]) => {
    const original = Reflect.get(owner, name);
    const counting = function (this: object, ...given: unknown[]): unknown {
      count += 1;
      return Reflect.apply(original, this, given);
    };
    Reflect.set(owner, name, counting);
    return () => Reflect.set(owner, name, original);
  });
  try {
    await work();
    return count;
  } finally {
    for (const back of restore) back();
  }
}
