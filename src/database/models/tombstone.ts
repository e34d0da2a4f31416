import type { Sequelize } from 'sequelize';
import { index, instantColumn, key, Row, table, to } from './columns.ts';

/** Someone taken out of an organization, whom no sign-in may add again (security I5). */
export class Tombstone extends Row<Tombstone> {
  declare organizationId: string;
  declare accountId: string;
  declare setAt: Date;
}

/** Binds the model to the open database. */
export function initTombstone(sequelize: Sequelize): void {
  Tombstone.init(
    {
      organizationId: key(to('organizations')),
      accountId: key(to('accounts')),
      setAt: instantColumn(),
    },
    table(sequelize, 'tombstones', [index('tombstones_account_id', ['account_id'])]),
  );
}
