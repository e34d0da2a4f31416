import { column, rowOf } from './columns.ts';

/** A count within a time window: attempts under a limit, or recurring events. */
export class Counter extends rowOf(
  'counters',
  {
    /** A keyed hash, so that the table identifies no person. */
    key: column.key(column.string()),
    /** A keyed hash of the person or client, to find all of their counters. */
    subject: column.string(),
    /** A new id for each window. */
    windowId: column.uuid(),
    used: column.integer(),
    /** The length of the window, in seconds. */
    seconds: column.integer(),
    /**
     * Seconds since 1970, as in `expiresAt`: both databases can calculate with this type, and return
     * it as a number.
     */
    beganAt: column.number(),
    /** The time after which the row may be deleted. */
    expiresAt: column.number(),
  },
  () => [
    column.index('counters_subject', ['subject']),
    column.index('counters_expires_at', ['expires_at']),
  ],
) {}
