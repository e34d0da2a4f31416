import type { Sequelize } from 'sequelize';
import { instantColumn, key, Row, table, textColumn } from './columns.ts';

/** A daemon that runs, as it tells the commands; the row goes when it stops, and counts for nothing once it is old. */
export class Daemon extends Row<Daemon> {
  declare id: string;
  /** The machine's own name. */
  declare host: string;
  declare listen: string;
  declare configFile: string;
  /** The keyed digest of the file's contents as the daemon read them: it tells nothing without the master key. */
  declare configDigest: string;
  declare seenAt: Date;
}

/** Binds the model to the open database. */
export function initDaemon(sequelize: Sequelize): void {
  Daemon.init(
    {
      id: key(),
      host: textColumn(),
      listen: textColumn(),
      configFile: textColumn(),
      configDigest: textColumn(),
      seenAt: instantColumn(),
    },
    table(sequelize, 'daemons'),
  );
}
