import { Account } from './models/account.ts';

// Writes past the ORM, for what is done so often that the ORM would be the cost. As every write, they need a
// transaction; what an index refuses is the same error as the ORM's.

/** Runs a statement with `$1` parameters. */
export async function execute(sql: string, bind: unknown[]): Promise<void> {
  if (Account.sequelize === undefined) throw new Error('no database is open');
  await Account.sequelize.query(sql, { bind });
}

/** Writes one row; table and columns are named by the code, never by a caller's data. Objects are written as JSON. */
export async function insertRow(table: string, row: Record<string, unknown>): Promise<void> {
  const { sql, bind } = insertion(table, row);
  await execute(sql, bind);
}

/** The statement that writes one row, as `insertRow` does, for who has more to say in it. */
export function insertion(table: string, row: Record<string, unknown>): { sql: string; bind: unknown[] } {
  const columns = Object.keys(row);
  const places = columns.map((_, at) => `$${at + 1}`);
  return {
    sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`,
    bind: Object.values(row).map(plain),
  };
}

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return JSON.stringify(value);
}
