import { orderedId } from '../../../crypto/id.ts';
import type { Event } from '../../../database/models/event.ts';
import { dialectOfDatabase, insertion, insertRow, select } from '../../../database/select.ts';
import { viewEvent } from './view.ts';
import { isWanted } from './wanted.ts';

type Written = Pick<Event, 'id' | 'kind' | 'at' | 'organizationId' | 'actor' | 'subject' | 'data'>;

interface Listener {
  id: string;
  events: string[] | null;
}

/**
 * Writes an event, and a delivery for each webhook that wants it. Call it inside the transaction
 * that causes the event, so that exactly the committed events are sent. Without webhooks it is one
 * statement.
 */
export async function fanOut({ organizationId, ...event }: Written): Promise<void> {
  const row = { ...event, organization_id: organizationId };
  // An event outside any organization is sent to no webhook.
  if (organizationId === null) return insertRow('events', row);
  for (const { id, events } of await insertAndFind(row, organizationId)) {
    if (isWanted(event.kind, events)) await queue(id, event);
  }
}

async function insertAndFind(
  row: Record<string, unknown>,
  organizationId: string,
): Promise<Listener[]> {
  const { sql, bind } = insertion('events', row);
  const found = `FROM webhooks WHERE organization_id = $${bind.length + 1} AND enabled`;
  const given = [...bind, organizationId];
  if (dialectOfDatabase() === 'postgres') {
    // The lock keeps a found webhook from being removed before its delivery is written.
    return select<Listener>(
      `WITH written AS (${sql}) SELECT id, events ${found} FOR KEY SHARE`,
      given,
    );
  }
  const listeners = `SELECT json_group_array(json_object('id', id, 'events', json(events))) ${found}`;
  const returning = `${sql} RETURNING (${listeners}) AS listeners`;
  const [written] = await select<{ listeners: string }>(returning, given);
  return JSON.parse(written?.listeners ?? '[]');
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
