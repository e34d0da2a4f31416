import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A person who was removed from an organization. No sign-in may add them again (security I5). */
export class Tombstone extends Row<Tombstone> {
  declare organizationId: string;
  declare accountId: string;
  declare setAt: Date;
}

/** Binds the model to the open database. */
export function initTombstone(sequelize: Sequelize): void {
  Tombstone.init(
    {
      organizationId: column.key(column.to('organizations')),
      accountId: column.key(column.to('accounts')),
      setAt: column.date(),
    },
    table(sequelize, 'tombstones', [column.index('tombstones_account_id', ['account_id'])]),
  );
}
