import { column, rowOf } from './columns.ts';

/** A message to send, written in the transaction that decided it. */
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
