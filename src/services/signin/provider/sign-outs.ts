import { randomInt, randomUUID } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { idOfInstant, orderedId } from '../../../crypto/id.ts';
import { signLogoutToken } from '../../../crypto/jwt.ts';
import { ClientSignOut } from '../../../database/models/provider-record.ts';
import { insertRow, select } from '../../../database/select.ts';
import { transaction, unsynced } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { keysOfIdTokens } from '../../foundation/keys/signing-key.ts';
import { projectRoles } from '../../foundation/project-roles.ts';
import { after } from '../../foundation/time.ts';
import { idleSince, isSessionLive } from '../../people/sessions/live.ts';
import { clientIdOf } from '../../tenancy/clients/client.ts';
import { planAfter } from '../../tenancy/webhooks/delivery/plan.ts';
import type { Outcome } from '../../tenancy/webhooks/webhook.ts';
import { endGrant } from './grants.ts';

// Back-channel logout: a client is told of each session that ended, and of each person that it no
// longer admits. Sessions end in many places, so the grants are compared with what is live, soon
// after each event that may have ended one.

const mostAtOnce = 100;
/** Longer than any try takes. */
const leaseSeconds = 20;

/** Events that end nothing, and come with every sign-in. */
const harmless = `'session.started', 'client.session.started', 'signin.refused'`;

const rank = (role: string) =>
  `CASE ${role} ${projectRoles.map((row, at) => `WHEN '${row.role}' THEN ${at + 1}`).join(' ')} ELSE 0 END`;

const ended = `SELECT g.grant_id AS "grantId", g.session_id AS "sid", g.client_id AS "clientId", g.payload
  FROM provider_records g JOIN clients c ON c.id = g.client_id
  LEFT JOIN sessions s ON s.id = g.session_id
  LEFT JOIN accounts a ON a.id = s.account_id
  LEFT JOIN memberships m ON m.account_id = a.id AND m.organization_id = c.organization_id
  LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
  WHERE g.model = 'Grant' AND c.backchannel_logout_uri IS NOT NULL
    AND (s.id IS NULL OR NOT ${isSessionLive('$1', '$2')} OR a.disabled_at IS NOT NULL
      OR m.account_id IS NULL OR ${rank('p.role')} < ${rank('c.role')})
  LIMIT ${mostAtOnce}`;

interface EndedGrant {
  grantId: string;
  sid: string;
  clientId: string;
  payload: string | { accountId: string };
}

/** The scheduler's interface for a long-running job. */
interface Turn {
  stop: AbortSignal;
  anew(): Context;
}

const everyFewTurns = 30;
let turns = 0;
let lastLook = '';

/** Finds the sessions that ended at clients, and tells the clients. */
export async function tellClients(ctx: Context, turn: Turn): Promise<void> {
  await noticeEnds(ctx);
  const due = await findDue(ctx.now);
  await Promise.all(
    due.map((client) =>
      serve(client, turn).catch((error: unknown) => {
        ctx.log.error({ client, err: error }, 'a client was not told of sign-outs');
      }),
    ),
  );
}

// What this process sends now: to each client one message after the other, so that a client that
// does not answer holds up no other.
const served = new Set<string>();

/** The clients to serve, the longest waiting first. */
async function findDue(now: Date): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT client_id AS id FROM client_sign_outs WHERE next_at <= $1
      GROUP BY client_id ORDER BY MIN(next_at) LIMIT ${mostAtOnce + served.size}`,
    [now],
  );
  return rows.map(({ id }) => id).filter((id) => !served.has(id));
}

async function serve(clientId: string, turn: Turn): Promise<void> {
  if (served.has(clientId)) return;
  served.add(clientId);
  try {
    while (!turn.stop.aborted && (await tellNext(clientId, turn)));
  } finally {
    served.delete(clientId);
  }
}

/** Whether something happened since the last look that may have ended a session or a membership. */
async function mayHaveEnded(ctx: Context): Promise<boolean> {
  // Ids are ordered by time. The margin is for slow transactions and for clocks that differ.
  const since = idOfInstant(after(ctx.now, -30).getTime());
  const [seen] = await select<{ some: number | string; last: string | null }>(
    `SELECT count(*) AS some, CAST(max(CAST(id AS TEXT)) AS TEXT) AS last FROM events
      WHERE id > $1 AND kind NOT IN (${harmless})`,
    [since],
  );
  const look = `${seen?.some} ${seen?.last}`;
  const isNew = Number(seen?.some) > 0 && look !== lastLook;
  lastLook = look;
  return isNew;
}

let noticing = false;

/** Ends the grants that are dead, and notes them for their clients. One run at a time. */
async function noticeEnds(ctx: Context): Promise<void> {
  if (noticing) return;
  noticing = true;
  try {
    turns += 1;
    // A session that expires writes no event.
    const isDue = await mayHaveEnded(ctx);
    if (turns % everyFewTurns !== 1 && !isDue) return;
    while ((await noticeSome(ctx)) === mostAtOnce);
  } finally {
    noticing = false;
  }
}

/** Ends some grants that are dead; returns how many it found. */
async function noticeSome(ctx: Context): Promise<number> {
  const found = await select<EndedGrant>(ended, [ctx.now, idleSince(ctx)]);
  for (const { grantId, sid, clientId, payload } of found) {
    const { accountId } = typeof payload === 'string' ? JSON.parse(payload) : payload;
    await transaction(() => noteSignOut(ctx, { grantId, sid, clientId, sub: accountId }));
  }
  return found.length;
}

/** Ends a grant, and notes it for a client that wants to know. Call it inside a transaction. */
async function noteSignOut(
  ctx: Context,
  { grantId, sid, clientId, sub }: { grantId: string; sid: string; clientId: string; sub: string },
): Promise<void> {
  const [grant] = await select(
    `DELETE FROM provider_records WHERE grant_id = $1 AND model = 'Grant' RETURNING id`,
    [grantId],
  );
  // Another daemon was here first.
  if (grant === undefined) return;
  await endGrant(grantId);
  const [client] = await select<{ uri: string | null }>(
    'SELECT backchannel_logout_uri AS uri FROM clients WHERE id = $1',
    [clientId],
  );
  if (client === undefined || client.uri === null) return;
  const row = { id: orderedId(), client_id: clientId, sid, sub, next_at: ctx.now, at: ctx.now };
  await insertRow('client_sign_outs', row);
}

interface Due {
  attempts: number;
  sid: string;
  sub: string;
  clientId: string;
  uri: string | null;
  alg: 'RS256' | 'EdDSA';
}

/** Tells a client of one sign-out; false if none is due. */
async function tellNext(clientId: string, turn: Turn): Promise<boolean> {
  const ctx = turn.anew();
  // The lease: of two daemons at once, one moves the next try.
  const [claimed] = await unsynced(() =>
    select<{ id: string }>(
      `UPDATE client_sign_outs SET next_at = $2 WHERE next_at <= $3 AND id =
        (SELECT id FROM client_sign_outs WHERE client_id = $1 AND next_at <= $3
          ORDER BY next_at LIMIT 1) RETURNING id`,
      [clientId, after(ctx.now, leaseSeconds), ctx.now],
    ),
  );
  if (claimed === undefined) return false;
  const [due] = await select<Due>(
    `SELECT o.attempts, o.sid, o.sub, c.id AS "clientId", c.backchannel_logout_uri AS uri,
        c.id_token_alg AS alg
      FROM client_sign_outs o JOIN clients c ON c.id = o.client_id WHERE o.id = $1`,
    [claimed.id],
  );
  if (due === undefined) return true;
  const outcome = due.uri === null ? null : await send(ctx, due.uri, due, turn.stop);
  if (outcome !== null) await settle(turn.anew(), claimed.id, due, outcome);
  return true;
}

/** Sends the logout token, made anew at each try; null if the process is about to end. */
async function send(
  ctx: Context,
  uri: string,
  { clientId, sid, sub, alg }: Due,
  stop: AbortSignal,
): Promise<Outcome | null> {
  const keys = await keysOfIdTokens(ctx);
  const token = await signLogoutToken(keys, alg, {
    iss: ctx.config.baseUrl,
    aud: clientIdOf({ id: clientId }),
    sub,
    sid,
    jti: randomUUID(),
    now: ctx.now,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ logout_token: token }).toString();
  try {
    return { status: await ctx.outbound.postMessage(uri, { headers, body, signal: stop }) };
  } catch (error) {
    if (stop.aborted) return null;
    if (!(error instanceof Refusal)) throw error;
    return { status: null, error: error.message };
  }
}

/** Decides like for a webhook: the row goes once the client has taken it, or after the last try. */
async function settle(ctx: Context, id: string, due: Due, outcome: Outcome): Promise<void> {
  const jitter = randomInt(1000) / 1000;
  const tried = { attempts: due.attempts, failingSince: null, now: ctx.now, jitter };
  const { delivery } = planAfter(outcome, tried);
  const { attempts, nextAt } = delivery;
  await unsynced(async () => {
    if (nextAt === null) await ClientSignOut.destroy({ where: { id } });
    else await ClientSignOut.update({ attempts, nextAt }, { where: { id } });
  });
  if (delivery.status === 'dead') {
    const client = clientIdOf({ id: due.clientId });
    ctx.log.warn({ client, reason: delivery.error }, 'a client was not told of a sign-out');
  }
}

/** Ends what a person has at a client, in all their sessions. Call it inside a transaction. */
export async function signOutOf(
  ctx: Context,
  accountId: string,
  clientId: string,
): Promise<{ sid: string }[]> {
  const grants = await select<{ grantId: string; sid: string }>(
    `SELECT g.grant_id AS "grantId", g.session_id AS sid
      FROM provider_records g JOIN sessions s ON s.id = g.session_id
      WHERE g.model = 'Grant' AND g.client_id = $1 AND s.account_id = $2`,
    [clientId, accountId],
  );
  for (const grant of grants) await noteSignOut(ctx, { ...grant, clientId, sub: accountId });
  return grants;
}
