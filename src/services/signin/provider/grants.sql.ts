import type { Context } from '../../../context.ts';
import type { Client } from '../../../database/models/client.ts';
import { execute, select } from '../../../database/select.ts';
import { idleSince, isSessionLive } from '../../people/sessions/live.sql.ts';
import { isBarred, membershipAt } from '../../tenancy/clients/admits.sql.ts';

// The SQL of grants, codes and tokens. A grant allows one client to use one session. Each code and
// token has the id of its grant.

/** A grant of a session, and the row id of its client. */
export interface GrantOfSession {
  clientId: string;
  grantId: string;
}

/** The grants of a session. */
export async function grantsOf(sessionId: string): Promise<GrantOfSession[]> {
  return select(
    `SELECT client_id AS "clientId", grant_id AS "grantId" FROM provider_records
      WHERE session_id = $1 AND model = 'Grant'`,
    [sessionId],
    { prepared: true },
  );
}

/** Deletes a grant with all its codes and tokens. Call it inside a transaction. */
export async function endGrant(grantId: string): Promise<void> {
  await execute('DELETE FROM provider_records WHERE grant_id = $1', [grantId]);
}

/** Deletes the grant itself; false if it is already gone. */
export async function deleteGrantRow(grantId: string): Promise<boolean> {
  const rows = await select(
    `DELETE FROM provider_records WHERE grant_id = $1 AND model = 'Grant' RETURNING id`,
    [grantId],
  );
  return rows.length > 0;
}

/** Whether the client wants messages about sign-outs. */
export async function hasLogoutUri(clientId: string): Promise<boolean> {
  const [client] = await select<{ uri: string | null }>(
    'SELECT backchannel_logout_uri AS uri FROM clients WHERE id = $1',
    [clientId],
  );
  return client !== undefined && client.uri !== null;
}

/** The client of a grant, and the session. */
interface GrantedClient extends Pick<Client, 'id' | 'name' | 'organizationId'> {
  sessionId: string;
}

/** The client of this grant; null if the grant has ended. */
export async function findGrantedClient(grantId: string): Promise<GrantedClient | null> {
  const [client = null] = await select<GrantedClient>(
    `SELECT c.id, c.name, c.organization_id AS "organizationId",
        r.session_id AS "sessionId"
      FROM provider_records r JOIN clients c ON c.id = r.client_id
      WHERE r.grant_id = $1 AND r.model = 'Grant'`,
    [grantId],
  );
  return client;
}

/** A code, token or grant to store. */
export interface NewRecord {
  id: string;
  model: string;
  grantId: string | undefined;
  sessionId: string;
  clientId: string;
  payload: object;
  expiresAt: Date;
}

/** Stores a record if the account may use the client now; returns whether it did. */
export async function insertRecord(
  ctx: Pick<Context, 'config'>,
  { id, model, grantId, sessionId, clientId, payload, expiresAt }: NewRecord,
  accountId: string,
): Promise<boolean> {
  const inserted = await select(
    `INSERT INTO provider_records (id, model, grant_id, session_id, client_id, payload, expires_at)
      SELECT $1, $2, $3, $4, c.id, $6, $7 FROM clients c JOIN accounts a ON a.id = $8
      LEFT JOIN ${membershipAt(ctx, 'c.organization_id')}
      LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
      WHERE c.id = $5 AND NOT ${isBarred} RETURNING id`,
    [id, model, grantId, sessionId, clientId, JSON.stringify(payload), expiresAt, accountId],
    { prepared: true },
  );
  return inserted.length > 0;
}

/** Deletes a code, token or grant, by the id of its row. */
export async function deleteRecord(id: string): Promise<void> {
  await execute('DELETE FROM provider_records WHERE id = $1', [id], { prepared: true });
}

/** Deletes the records of a grant that are of one model. */
export async function deleteRecordsOf(grantId: string, model: string): Promise<void> {
  await execute('DELETE FROM provider_records WHERE grant_id = $1 AND model = $2', [
    grantId,
    model,
  ]);
}

/** Marks a code or refresh token as used up; null if it is already used up, or is gone. */
export async function consumeRecord(
  id: string,
  now: Date,
): Promise<{ sessionId: string; clientId: string } | null> {
  const [row = null] = await select<{ sessionId: string; clientId: string }>(
    `UPDATE provider_records SET consumed_at = $2 WHERE id = $1 AND consumed_at IS NULL
      RETURNING session_id AS "sessionId", client_id AS "clientId"`,
    [id, now],
    { prepared: true },
  );
  return row;
}

/** The id of the grant of a code or token; null if it is gone. */
export async function findGrantId(recordId: string): Promise<string | null> {
  const [row] = await select<{ grantId: string }>(
    `SELECT grant_id AS "grantId" FROM provider_records WHERE id = $1`,
    [recordId],
  );
  return row?.grantId ?? null;
}

/** The grants of a person's sessions at a client. */
export function grantsAt(
  clientId: string,
  accountId: string,
): Promise<{ grantId: string; sid: string }[]> {
  return select<{ grantId: string; sid: string }>(
    `SELECT g.grant_id AS "grantId", g.session_id AS sid
      FROM provider_records g JOIN sessions s ON s.id = g.session_id
      WHERE g.model = 'Grant' AND g.client_id = $1 AND s.account_id = $2`,
    [clientId, accountId],
  );
}

/** A client and a session that is signed in to it. */
interface SignedIn {
  rowId: string;
  name: string;
  organizationId: string;
  slug: string;
  organization: string;
  issuedAt: Date;
}

// A session is signed in to a client by a grant, by cookies of the client's hosts, or by both.
const signedIn = `WITH mine AS (SELECT s.id, s.created_at FROM sessions s
    WHERE s.account_id = $1 AND ${isSessionLive('$2', '$3')}),
  there AS (SELECT g.client_id, g.session_id FROM mine
      JOIN provider_records g ON g.session_id = mine.id AND g.model = 'Grant'
    UNION SELECT o.client_id, h.session_id FROM mine
      JOIN host_sessions h ON h.session_id = mine.id JOIN client_origins o ON o.origin = h.origin)
  SELECT c.id AS "rowId", c.name, o.id AS "organizationId", o.slug, o.name AS organization,
    mine.created_at AS "issuedAt"
  FROM there JOIN mine ON mine.id = there.session_id
  JOIN clients c ON c.id = there.client_id JOIN organizations o ON o.id = c.organization_id
  ORDER BY c.name, c.id, mine.created_at`;

/** The clients that the person's live sessions are signed in to: a row for each session. */
export function findSignedInClients(
  ctx: Pick<Context, 'now'>,
  accountId: string,
): Promise<SignedIn[]> {
  return select<SignedIn>(signedIn, [accountId, ctx.now, idleSince(ctx)], {
    columns: { issuedAt: 'time' },
  });
}
