import type { Sequelize } from 'sequelize';
import { instantColumn, key, Row, table, textColumn } from './columns.ts';

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
      keyId: key(textColumn()),
      sealed: textColumn(),
      createdAt: instantColumn(),
    },
    table(sequelize, 'key_canaries'),
  );
}
