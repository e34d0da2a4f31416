import type { CreationOptional, Sequelize } from 'sequelize';
import {
  index,
  instantColumn,
  integer,
  json,
  key,
  Row,
  table,
  textColumn,
  withDefault,
} from './columns.ts';

/** A message to send, written in the transaction that decided it. */
export class OutboxItem extends Row<OutboxItem> {
  declare id: string;
  declare kind: string;
  declare payload: Record<string, unknown>;
  declare createdAt: Date;
  declare attempts: CreationOptional<number>;
  declare nextAt: Date;
}

/** Binds the model to the open database. */
export function initOutboxItem(sequelize: Sequelize): void {
  OutboxItem.init(
    {
      id: key(),
      kind: textColumn(),
      payload: json(),
      createdAt: instantColumn(),
      attempts: withDefault(integer(), 0),
      nextAt: instantColumn(),
    },
    table(sequelize, 'outbox', [index('outbox_next_at', ['next_at'])]),
  );
}
