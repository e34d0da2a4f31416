import { QueryTypes } from 'sequelize';
import { directReadOf } from './direct.ts';
import { Account } from './models/account.ts';
import { isInTransaction } from './transaction.ts';

/**
 * Rows by plain SQL with `$1` parameters: for what runs so often that the ORM would be the cost.
 * `prepared` is for a text that is always the same: a connection to PostgreSQL plans it once.
 */
export async function select<Row extends object>(
  sql: string,
  bind: unknown[],
  how?: { prepared: true },
): Promise<Row[]> {
  const { sequelize } = Account;
  if (sequelize === undefined) throw new Error('no database is open');
  const read = isInTransaction() ? undefined : directReadOf(sequelize);
  // Whoever writes the query knows its rows.
  if (read) return (await read(sql, bind, how)) as Row[];
  return sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });
}

/** What the open database is. */
export function dialectOfDatabase(): 'sqlite' | 'postgres' {
  return Account.sequelize?.getDialect() === 'sqlite' ? 'sqlite' : 'postgres';
}
