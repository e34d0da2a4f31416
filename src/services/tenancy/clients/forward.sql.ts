import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Client } from '../../../database/models/client.ts';
import { execute, select } from '../../../database/select.ts';
import { idleSince, isSessionLive, isUsable } from '../../people/sessions/live.sql.ts';
import { type AdmissionFacts, membershipAt, standingColumns } from './admits.sql.ts';

// The SQL of forward auth.

/** The client of a protected origin. */
export interface ProtectingClient
  extends Pick<Client, 'id' | 'name' | 'organizationId' | 'projectId' | 'role'> {
  origin: string;
}

// These queries bypass the ORM, because they run for every request to a protected host.
const clientColumns = `o.origin, c.id, c.name, c.organization_id AS "organizationId",
    c.project_id AS "projectId", c.role`;

const findingClient = `SELECT ${clientColumns}
  FROM client_origins o JOIN clients c ON c.id = o.client_id WHERE o.origin = $1`;

const live = isUsable('$1', '$2');

/** The client that protects this origin, or null. */
export async function findProtecting(origin: string): Promise<ProtectingClient | null> {
  const [client = null] = await select<ProtectingClient>(findingClient, [origin], {
    prepared: true,
  });
  return client;
}

/** The person of a cookie at an origin. */
interface PersonAtHost extends Pick<Account, 'email' | 'emailProof'>, AdmissionFacts {
  accountId: string;
  personName: string;
  /** `slug:role` for each project in the organization, separated by commas. */
  projects: string | null;
}

/**
 * The client of a protected origin, or null, and the person of the cookie with this hash there, or
 * null if the session is not usable. One query, because a proxy waits for it at each request.
 */
export async function findAtHost(
  ctx: Context,
  origin: string,
  cookieHash: string,
): Promise<{ client: ProtectingClient | null; person: PersonAtHost | null }> {
  const [row = null] = await select<ProtectingClient & (PersonAtHost | { accountId: null })>(
    `SELECT ${clientColumns}, a.id AS "accountId", a.email, a.email_proof AS "emailProof",
        a.name AS "personName", ${standingColumns},
        (SELECT string_agg(q.slug || ':' || r.role, ',')
           FROM project_memberships r JOIN projects q ON q.id = r.project_id
          WHERE r.account_id = a.id AND q.organization_id = c.organization_id) AS projects
      FROM client_origins o JOIN clients c ON c.id = o.client_id
      LEFT JOIN host_sessions h ON h.id = $3 AND h.origin = o.origin
      LEFT JOIN sessions s ON s.id = h.session_id AND ${isSessionLive('$1', '$2')}
      LEFT JOIN accounts a ON a.id = s.account_id AND a.disabled_at IS NULL
      LEFT JOIN ${membershipAt(ctx, 'c.organization_id')}
      LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
      WHERE o.origin = $4`,
    [ctx.now, idleSince(ctx), cookieHash, origin],
    { prepared: true },
  );
  return { client: row, person: row === null || row.accountId === null ? null : row };
}

const atHosts = `session_id IN (SELECT id FROM sessions WHERE account_id = $1)
  AND origin IN (SELECT origin FROM client_origins WHERE client_id = $2)`;

/**
 * Deletes the cookies and tickets of a person at the origins of a client. Returns the sessions of
 * the cookies. Call it inside a transaction.
 */
export async function leaveHosts(accountId: string, clientId: string): Promise<string[]> {
  await execute(`DELETE FROM host_tickets WHERE ${atHosts}`, [accountId, clientId]);
  const ended = await select<{ sid: string }>(
    `DELETE FROM host_sessions WHERE ${atHosts} RETURNING session_id AS sid`,
    [accountId, clientId],
  );
  return ended.map(({ sid }) => sid);
}

/** The account of a usable session, or null. */
export async function findAccountOf(ctx: Context, sessionId: string): Promise<string | null> {
  const [row] = await select<{ id: string }>(
    `SELECT a.id FROM sessions s JOIN accounts a ON a.id = s.account_id
      WHERE s.id = $3 AND ${live}`,
    [ctx.now, idleSince(ctx), sessionId],
  );
  return row?.id ?? null;
}
