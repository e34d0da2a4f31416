import { QueryTypes } from 'sequelize';
import { Account } from './models/account.ts';

/** Rows by plain SQL with `$1` parameters: for what runs so often that the ORM would be the cost. */
export async function select<Row extends object>(sql: string, bind: unknown[]): Promise<Row[]> {
  if (Account.sequelize === undefined) throw new Error('no database is open');
  return Account.sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });
}

/** What the open database is. */
export function dialectOfDatabase(): 'sqlite' | 'postgres' {
  return Account.sequelize?.getDialect() === 'sqlite' ? 'sqlite' : 'postgres';
}
