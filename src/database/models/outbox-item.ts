import { column, rowOf } from './columns.ts';

/** A message to send. It is written in the transaction that requests it. */
export class OutboxItem extends rowOf(
  'outbox',
  {
    id: column.key(),
    kind: column.string(),
    payload: column.json<Record<string, unknown>>(),
    createdAt: column.date(),
    attempts: column.withDefault(column.integer(), 0),
    nextAt: column.date(),
  },
  () => [column.index('outbox_next_at', ['next_at'])],
) {}
