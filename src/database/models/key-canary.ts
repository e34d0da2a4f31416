import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A constant sealed by a master key. It opens only with the right key (security X3). */
export class KeyCanary extends Row<KeyCanary> {
  declare keyId: string;
  declare sealed: string;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initKeyCanary(sequelize: Sequelize): void {
  KeyCanary.init(
    {
      keyId: column.key(column.string()),
      sealed: column.string(),
      createdAt: column.date(),
    },
    table(sequelize, 'key_canaries'),
  );
}
