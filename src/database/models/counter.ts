import { column, rowOf } from './columns.ts';

/**
 * A count within a window of time: the attempts that a limit counts, or the failures of one event.
 */
export class Counter extends rowOf(
  'counters',
  {
    /** A keyed hash, so the table names no person. */
    key: column.key(column.string()),
    /** A keyed hash of the person or client counted, to find all of their counters. */
    subject: column.string(),
    /** New for each window. */
    windowId: column.uuid(),
    used: column.integer(),
    /** The length of the window, in seconds. */
    seconds: column.integer(),
    /**
     * Seconds since 1970, like `expiresAt`: both databases can calculate with this type, and read it
     * as a number.
     */
    beganAt: column.number(),
    /** When the row may be deleted. */
    expiresAt: column.number(),
  },
  () => [
    column.index('counters_subject', ['subject']),
    column.index('counters_expires_at', ['expires_at']),
  ],
) {}
