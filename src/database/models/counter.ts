import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/**
 * A count within a window of time: the attempts that a limit counts, or the failures of one event.
 */
export class Counter extends Row<Counter> {
  /** A keyed hash, so the table names no person. */
  declare key: string;
  /** A keyed hash of the person or client counted, to find all of their counters. */
  declare subject: string;
  /** New for each window. */
  declare windowId: string;
  declare used: number;
  /** The length of the window, in seconds. */
  declare seconds: number;
  /**
   * Seconds since 1970, like `expiresAt`: both databases can calculate with this type, and read it
   * as a number.
   */
  declare beganAt: number;
  /** When the row may be deleted. */
  declare expiresAt: number;
}

/** Binds the model to the open database. */
export function initCounter(sequelize: Sequelize): void {
  Counter.init(
    {
      key: column.key(column.string()),
      subject: column.string(),
      windowId: column.uuid(),
      used: column.integer(),
      seconds: column.integer(),
      beganAt: column.number(),
      expiresAt: column.number(),
    },
    table(sequelize, 'counters', [
      column.index('counters_subject', ['subject']),
      column.index('counters_expires_at', ['expires_at']),
    ]),
  );
}
