import type { Sequelize } from 'sequelize';
import { index, instantColumn, key, Row, table, to } from './columns.ts';

/** A person removed from an organization. No sign-in may add them again (security I5). */
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
