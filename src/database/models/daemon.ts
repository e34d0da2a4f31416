import { column, rowOf } from './columns.ts';

/**
 * A running daemon, as it reports itself to the commands. It deletes the row when it stops; an old
 * row is ignored.
 */
export class Daemon extends rowOf('daemons', {
  id: column.key(),
  /** The machine's host name. */
  host: column.string(),
  listen: column.string(),
  configFile: column.string(),
  /**
   * The keyed digest of the file's contents as the daemon read them. It reveals nothing without the
   * master key.
   */
  configDigest: column.string(),
  seenAt: column.date(),
}) {}
