import { select } from '../../../database/select.ts';

// The SQL of messages about sign-outs to clients.

/** Clients with due messages, the longest waiting first. */
export async function findDueClients(now: Date, most: number): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT client_id AS id FROM client_sign_outs WHERE next_at <= $1
      GROUP BY client_id ORDER BY MIN(next_at) LIMIT ${most}`,
    [now],
  );
  return rows.map(({ id }) => id);
}

/** Leases the client's first due message, and returns its id; null if none is due. */
export async function claimNext(
  clientId: string,
  { now, leasedUntil }: { now: Date; leasedUntil: Date },
): Promise<string | null> {
  const [claimed] = await select<{ id: string }>(
    `UPDATE client_sign_outs SET next_at = $2 WHERE next_at <= $3 AND id =
      (SELECT id FROM client_sign_outs WHERE client_id = $1 AND next_at <= $3
        ORDER BY next_at LIMIT 1) RETURNING id`,
    [clientId, leasedUntil, now],
  );
  return claimed?.id ?? null;
}

/** A message, and its client. */
export interface Due {
  attempts: number;
  sid: string;
  sub: string;
  clientId: string;
  uri: string | null;
  alg: 'RS256' | 'EdDSA';
}

/** The message of this id, or null if it or its client is gone. */
export async function readDue(id: string): Promise<Due | null> {
  const [due = null] = await select<Due>(
    `SELECT o.attempts, o.sid, o.sub, c.id AS "clientId", c.backchannel_logout_uri AS uri,
        c.id_token_alg AS alg
      FROM client_sign_outs o JOIN clients c ON c.id = o.client_id WHERE o.id = $1`,
    [id],
  );
  return due;
}
