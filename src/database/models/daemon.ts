import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * A daemon's report that it runs, for the commands. A stopping daemon deletes its row. Old rows are
 * ignored.
 */
export class Daemon extends Row<Daemon> {
  declare id: string;
  /** The host name of the machine. */
  declare host: string;
  declare listen: string;
  declare configFile: string;
  /**
   * The keyed digest of the configuration file as the daemon read it. Without the master key it
   * reveals nothing.
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
