import { column, rowOf } from './columns.ts';

/**
 * A daemon's report that it runs, for the commands. A stopping daemon deletes its row. Old rows are
 * ignored.
 */
export class Daemon extends rowOf('daemons', {
  id: column.key(),
  /** The host name of the machine. */
  host: column.string(),
  listen: column.string(),
  configFile: column.string(),
  /**
   * The keyed digest of the configuration file as the daemon read it. Without the master key it
   * reveals nothing.
   */
  configDigest: column.string(),
  /** The process on that machine. Null in a report of an older idctl, as is `proxy`. */
  pid: column.optional(column.integer()),
  /** The address of a proxy that is not in `http.trustedProxies`; null if none was seen. */
  proxy: column.optional(column.string()),
  seenAt: column.date(),
}) {}
