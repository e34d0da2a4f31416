import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Client } from '../../../database/models/client.ts';
import { execute, select } from '../../../database/select.ts';
import { idleSince, isUsable } from '../../people/sessions/live.sql.ts';

// The SQL of forward auth.

/** The client of a protected origin. */
export interface ProtectingClient
  extends Pick<Client, 'id' | 'name' | 'organizationId' | 'projectId' | 'role'> {
  origin: string;
}

// These queries bypass the ORM, because they run for every request to a protected host.
const findingClient = `SELECT o.origin, c.id, c.name, c.organization_id AS "organizationId",
    c.project_id AS "projectId", c.role
  FROM client_origins o JOIN clients c ON c.id = o.client_id WHERE o.origin = $1`;

const live = isUsable('$1', '$2');

const findingPerson = `SELECT a.id AS "accountId", a.email, a.email_proof AS "emailProof", a.name
  FROM host_sessions h JOIN sessions s ON s.id = h.session_id JOIN accounts a ON a.id = s.account_id
  WHERE h.id = $3 AND h.origin = $4 AND ${live}`;

/** The client that protects this origin, or null. */
export async function findProtecting(origin: string): Promise<ProtectingClient | null> {
  const [client = null] = await select<ProtectingClient>(findingClient, [origin], {
    prepared: true,
  });
  return client;
}

/** The person of a cookie at an origin. */
interface Person extends Pick<Account, 'email' | 'emailProof' | 'name'> {
  accountId: string;
}

/** The person of the cookie with this hash at the origin, if the session is usable; else null. */
export async function findPerson(
  ctx: Context,
  origin: string,
  cookieHash: string,
): Promise<Person | null> {
  const given = [ctx.now, idleSince(ctx), cookieHash, origin];
  const [person = null] = await select<Person>(findingPerson, given, { prepared: true });
  return person;
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
