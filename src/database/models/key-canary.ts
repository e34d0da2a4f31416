import type { Sequelize } from 'sequelize';
import { instant, key, Row, table, text } from './columns.ts';

/** A constant sealed by the master key: it opens only with the right one (security X3). */
export class KeyCanary extends Row<KeyCanary> {
  declare keyId: string;
  declare sealed: string;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initKeyCanary(sequelize: Sequelize): void {
  KeyCanary.init(
    {
      keyId: key(text()),
      sealed: text(),
      createdAt: instant(),
    },
    table(sequelize, 'key_canaries'),
  );
}
