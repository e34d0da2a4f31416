import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * A running daemon, as it reports itself to the commands. It deletes the row when it stops; an old
 * row is ignored.
 */
export class Daemon extends Row<Daemon> {
  declare id: string;
  /** The machine's host name. */
  declare host: string;
  declare listen: string;
  declare configFile: string;
  /**
   * The keyed digest of the file's contents as the daemon read them. It reveals nothing without the
   * master key.
   */
  declare configDigest: string;
  declare seenAt: Date;
}

/** Binds the model to the open database. */
export function initDaemon(sequelize: Sequelize): void {
  Daemon.init(
    {
      id: column.key(),
      host: column.string(),
      listen: column.string(),
      configFile: column.string(),
      configDigest: column.string(),
      seenAt: column.date(),
    },
    table(sequelize, 'daemons'),
  );
}
