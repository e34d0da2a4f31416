import { DataTypes, type Sequelize } from 'sequelize';
import { index, integer, key, Row, table, textColumn, uuid } from './columns.ts';

/** How often something happened in a window of time: the attempts that a limit counts, the failures of one event. */
export class Counter extends Row<Counter> {
  /** A keyed hash: the table names nobody. */
  declare key: string;
  /** A keyed hash of whom it is about, by which all of theirs are found. */
  declare subject: string;
  /** New with each window. */
  declare windowId: string;
  declare used: number;
  /** How long the window is, in seconds. */
  declare seconds: number;
  /** Seconds since 1970, as is `expiresAt`: a type in which both databases reckon, and that both read as a number. */
  declare beganAt: number;
  /** When the row means nothing any more. */
  declare expiresAt: number;
}

/** Binds the model to the open database. */
export function initCounter(sequelize: Sequelize): void {
  Counter.init(
    {
      key: key(textColumn()),
      subject: textColumn(),
      windowId: uuid(),
      used: integer(),
      seconds: integer(),
      beganAt: { type: DataTypes.DOUBLE, allowNull: false },
      expiresAt: { type: DataTypes.DOUBLE, allowNull: false },
    },
    table(sequelize, 'counters', [
      index('counters_subject', ['subject']),
      index('counters_expires_at', ['expires_at']),
    ]),
  );
}
