import { locks } from './hold-order.ts';
import { dialectOfDatabase, insertion, select } from './select.ts';

/** A webhook that may want an event: all kinds of events, or those that it names. */
interface Listener {
  id: string;
  events: string[] | null;
}

/**
 * Inserts an event of an organization inside a transaction, and returns the enabled webhooks of the
 * organization, in one statement. No webhook is removed before its delivery is written.
 */
export async function insertEvent(
  row: Record<string, unknown>,
  organizationId: string,
): Promise<Listener[]> {
  const { sql, bind } = insertion('events', row);
  const found = `FROM webhooks WHERE organization_id = $${bind.length + 1} AND enabled`;
  const given = [...bind, organizationId];
  if (dialectOfDatabase() === 'postgres') {
    const written = `WITH written AS (${sql}) SELECT id, events ${found} FOR ${locks.kept}`;
    return select<Listener>(written, given, { columns: { events: 'json' } });
  }
  const listeners = `SELECT json_group_array(json_object('id', id, 'events', json(events))) ${found}`;
  const returning = `${sql} RETURNING (${listeners}) AS listeners`;
  const [written] = await select<{ listeners: Listener[] }>(returning, given, {
    columns: { listeners: 'json' },
  });
  return written?.listeners ?? [];
}
