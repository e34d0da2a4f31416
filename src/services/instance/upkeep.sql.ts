import { select } from '../../database/select.ts';
import { accountCredentials, withoutCredentials } from '../people/credentials/credentials.ts';

// The SQL of upkeep.

/** The tables whose rows show that an account is in use. A sign-up alone may name an invitation. */
const traces = [...accountCredentials, ...withoutCredentials].filter(
  (table) => table !== 'accounts' && table !== 'invitations',
);

// The database uses the index of unverified accounts only for exactly this condition.
const waiting = `SELECT a.id FROM accounts a
  WHERE a.email_proof = 'none' AND a.password_hash IS NOT NULL AND a.disabled_at IS NULL
    AND COALESCE(a.sign_up_replaced_at, a.created_at) < $1
    ${traces.map((table) => `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE account_id = a.id)`).join('\n    ')}`;

/** The next accounts after `last` that signed up before this instant and verified no address. */
export async function findUnconfirmed(before: Date, last: string, max: number): Promise<string[]> {
  const further = `${waiting} AND a.id > $2 ORDER BY a.id LIMIT ${max}`;
  const rows = await select<{ id: string }>(further, [before, last]);
  return rows.map(({ id }) => id);
}

/** Whether the account is one of them. */
export async function isUnconfirmed(id: string, before: Date): Promise<boolean> {
  return (await select(`${waiting} AND a.id = $2`, [before, id])).length > 0;
}

/** Waiting messages: their number, and when the oldest was due. */
export interface Waiting {
  waiting: number;
  oldest: Date | null;
}

/** Counts waiting mails and messages of webhooks, with one small query for each. */
export async function countWaiting(): Promise<{
  mail: Waiting | undefined;
  webhook: Waiting | undefined;
}> {
  const [mail] = await select<Waiting>(
    'SELECT count(*) AS waiting, min(next_at) AS oldest FROM outbox',
    [],
    { columns: { oldest: 'time' } },
  );
  const [webhook] = await select<Waiting>(
    `SELECT count(*) AS waiting, min(d.next_at) AS oldest
     FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
     WHERE d.status = 'waiting' AND w.enabled`,
    [],
    { columns: { oldest: 'time' } },
  );
  return { mail, webhook };
}
