import type { CreationOptional, Sequelize } from 'sequelize';
import * as column from './columns.ts';
import { Row, table } from './columns.ts';

/** A message to send. It is written in the transaction that requests it. */
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
      id: column.key(),
      kind: column.string(),
      payload: column.json(),
      createdAt: column.date(),
      attempts: column.withDefault(column.integer(), 0),
      nextAt: column.date(),
    },
    table(sequelize, 'outbox', [column.index('outbox_next_at', ['next_at'])]),
  );
}
