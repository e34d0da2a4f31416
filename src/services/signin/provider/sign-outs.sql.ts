import type { Context } from '../../../context.ts';
import { idOfInstant } from '../../../crypto/id.ts';
import { select } from '../../../database/select.ts';
import { after } from '../../foundation/time.ts';
import { idleSince, isSessionLive } from '../../people/sessions/live.sql.ts';
import { isBarred, membershipAt } from '../../tenancy/clients/admits.sql.ts';

// The SQL that finds ended grants, and the messages about sign-outs to clients.

/** Clients with due messages, the longest waiting first. */
export async function findDueClients(now: Date, max: number): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT client_id AS id FROM client_sign_outs WHERE next_at <= $1
      GROUP BY client_id ORDER BY MIN(next_at) LIMIT ${max}`,
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

/** A grant that has lost its session or membership. */
interface EndedGrant {
  grantId: string;
  sid: string;
  clientId: string;
  payload: { accountId: string };
}

const ended = (
  ctx: Pick<Context, 'config'>,
  max: number,
) => `SELECT g.grant_id AS "grantId", g.session_id AS "sid",
    g.client_id AS "clientId", g.payload
  FROM provider_records g JOIN clients c ON c.id = g.client_id
  LEFT JOIN sessions s ON s.id = g.session_id
  LEFT JOIN accounts a ON a.id = s.account_id
  LEFT JOIN ${membershipAt(ctx, 'c.organization_id')}
  LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
  WHERE g.model = 'Grant' AND c.backchannel_logout_uri IS NOT NULL
    AND (s.id IS NULL OR NOT ${isSessionLive('$1', '$2')} OR ${isBarred})
  LIMIT ${max}`;

/** Up to `max` such grants, at clients with a back-channel logout URI. */
export function findEnded(
  ctx: Pick<Context, 'config'>,
  now: Date,
  max: number,
): Promise<EndedGrant[]> {
  return select<EndedGrant>(ended(ctx, max), [now, idleSince({ now })], {
    columns: { payload: 'json' },
  });
}

/** Frequent events that do not end a session or membership. */
const harmless = `'session.started', 'client.session.started', 'signin.refused'`;

/** The count and last id of recent events, except the harmless kinds; null if there are none. */
export async function findLatest({ now }: Pick<Context, 'now'>): Promise<string | null> {
  // Ids are ordered by time. The margin is for slow transactions and for clocks that differ.
  const since = idOfInstant(after(now, -30).getTime());
  const [seen] = await select<{ some: number; last: string | null }>(
    `SELECT count(*) AS some, CAST(max(CAST(id AS TEXT)) AS TEXT) AS last FROM events
      WHERE id > $1 AND kind NOT IN (${harmless})`,
    [since],
  );
  return seen === undefined || seen.some === 0 ? null : `${seen.some} ${seen.last}`;
}
