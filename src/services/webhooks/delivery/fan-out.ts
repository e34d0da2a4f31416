import { orderedId } from '../../../crypto/id.ts';
import { execute, insertion, insertRow } from '../../../database/execute.ts';
import type { Event } from '../../../database/models/event.ts';
import { dialectOfDatabase, select } from '../../../database/select.ts';
import { viewEvent } from '../../events/view.ts';
import { isWanted } from '../wanted.ts';

type Written = Pick<Event, 'id' | 'kind' | 'at' | 'organizationId' | 'actor' | 'subject' | 'data'>;

interface Listener {
  id: string;
  /** JSON, which one of the drivers reads and the other does not. */
  events: string | string[] | null;
}

const listeners = (place: number) =>
  `SELECT id, events FROM webhooks WHERE organization_id = $${place} AND enabled`;

/**
 * Writes an event, and a delivery of it for each webhook that wants it. Call it inside the transaction of what
 * happened: what is committed will be sent, and nothing else is. An event costs one statement on PostgreSQL.
 */
export async function fanOut({ organizationId, ...event }: Written): Promise<void> {
  const row = { ...event, organization_id: organizationId };
  // What happens in no organization is nobody's to be sent.
  if (organizationId === null) return insertRow('events', row);
  for (const { id, events } of await insertAndFind(row, organizationId)) {
    const patterns: string[] | null = typeof events === 'string' ? JSON.parse(events) : events;
    if (isWanted(event.kind, patterns)) await queue(id, event);
  }
}

async function insertAndFind(row: Record<string, unknown>, organizationId: string): Promise<Listener[]> {
  const { sql, bind } = insertion('events', row);
  if (dialectOfDatabase() === 'sqlite') {
    await execute(sql, bind);
    return select<Listener>(listeners(1), [organizationId]);
  }
  // Nobody removes a webhook between its being found and its delivery being written.
  const found = `WITH written AS (${sql}) ${listeners(bind.length + 1)} FOR KEY SHARE`;
  return select<Listener>(found, [...bind, organizationId]);
}

async function queue(webhookId: string, event: Omit<Written, 'organizationId'>): Promise<void> {
  const message = { type: event.kind, timestamp: event.at.toISOString(), data: viewEvent(event) };
  await insertRow('webhook_deliveries', {
    id: orderedId(),
    webhook_id: webhookId,
    event: event.kind,
    body: JSON.stringify(message),
    at: event.at,
    status: 'waiting',
    attempts: 0,
    next_at: event.at,
  });
}
