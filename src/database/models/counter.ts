import type { Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A count within a time window: attempts under a limit, or failures of one kind. */
export class Counter extends Row<Counter> {
  /** A keyed hash, so that the table identifies no person. */
  declare key: string;
  /** A keyed hash of the person or client, to find all of their counters. */
  declare subject: string;
  /** A new id for each window. */
  declare windowId: string;
  declare used: number;
  /** The length of the window, in seconds. */
  declare seconds: number;
  /**
   * Seconds since 1970, as in `expiresAt`: both databases can calculate with this type, and return
   * it as a number.
   */
  declare beganAt: number;
  /** The time after which the row may be deleted. */
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
