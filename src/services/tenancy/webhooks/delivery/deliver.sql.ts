import { select } from '../../../../database/select.ts';

/** Finds due webhooks, longest-waiting first: a busy organization does not delay the others. */
export async function findDue(now: Date, max: number): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT w.id FROM webhooks w
     WHERE w.enabled AND (w.leased_until IS NULL OR w.leased_until <= $1)
       AND (w.paused_until IS NULL OR w.paused_until <= $1)
       AND EXISTS (SELECT 1 FROM webhook_deliveries d
         WHERE d.webhook_id = w.id AND d.status = 'waiting' AND d.next_at <= $1)
     ORDER BY (SELECT MIN(d.next_at) FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.status = 'waiting')
     LIMIT ${max}`,
    [now],
  );
  return rows.map(({ id }) => id);
}

/** The condition that a delivery has this status. */
export function hasStatus(status: 'waiting' | 'delivered' | 'dead'): string {
  return `status = '${status}'`;
}
