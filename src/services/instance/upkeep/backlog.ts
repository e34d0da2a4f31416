import { select } from '../../../database/select.ts';

/** Waiting messages by kind: how many, and how many seconds overdue. */
export type Backlog = Record<'mail' | 'webhook', { waiting: number; seconds: number }>;

interface Row {
  waiting: number | string;
  oldest: string | Date | null;
}

/** Counts waiting messages, with one small query each. */
export async function countBacklog(now: Date): Promise<Backlog> {
  const [mail] = await select<Row>(
    'SELECT count(*) AS waiting, min(next_at) AS oldest FROM outbox',
    [],
  );
  const [webhook] = await select<Row>(
    `SELECT count(*) AS waiting, min(d.next_at) AS oldest
     FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
     WHERE d.status = 'waiting' AND w.enabled`,
    [],
  );
  return { mail: shown(mail, now), webhook: shown(webhook, now) };
}

function shown(row: Row | undefined, now: Date) {
  const due = row?.oldest ? new Date(row.oldest).getTime() : now.getTime();
  return { waiting: Number(row?.waiting ?? 0), seconds: Math.max(0, (now.getTime() - due) / 1000) };
}
