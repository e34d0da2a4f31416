import type { Context } from '../../../context.ts';
import { idOfInstant, orderedId } from '../../../crypto/id.ts';
import { insertRow, select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { remembered } from '../../../host/memory.ts';
import { timeOfExpiry } from '../../foundation/clock/clock.ts';
import { after } from '../../foundation/time.ts';
import { idleSince, isSessionLive } from '../../people/sessions/live.ts';
import { isBarred, membershipAt } from '../../tenancy/clients/admits.ts';
import { leaveHosts } from '../../tenancy/clients/forward.sql.ts';
import { endGrant } from './grants.ts';

// Finds the grants whose session or membership has ended, at clients with a back-channel logout
// URI. Many parts of the code can end a session or membership. So all grants at these clients are
// checked soon after each event that may have ended one.

const maxAtOnce = 100;

/** Frequent events that end no session and no membership. */
const harmless = `'session.started', 'client.session.started', 'signin.refused'`;

const findEnded = (ctx: Context) => `SELECT g.grant_id AS "grantId", g.session_id AS "sid",
    g.client_id AS "clientId", g.payload
  FROM provider_records g JOIN clients c ON c.id = g.client_id
  LEFT JOIN sessions s ON s.id = g.session_id
  LEFT JOIN accounts a ON a.id = s.account_id
  LEFT JOIN ${membershipAt(ctx, 'c.organization_id')}
  LEFT JOIN project_memberships p ON p.account_id = a.id AND p.project_id = c.project_id
  WHERE g.model = 'Grant' AND c.backchannel_logout_uri IS NOT NULL
    AND (s.id IS NULL OR NOT ${isSessionLive('$1', '$2')} OR ${isBarred})
  LIMIT ${maxAtOnce}`;

interface EndedGrant {
  grantId: string;
  sid: string;
  clientId: string;
  payload: { accountId: string };
}

const everyFewTurns = 30;

/** The count and last id of recent events, except the harmless kinds; null if there are none. */
async function findLatest({ now }: Context): Promise<string | null> {
  // Ids are ordered by time. The margin is for slow transactions and for clocks that differ.
  const since = idOfInstant(after(now, -30).getTime());
  const [seen] = await select<{ some: number; last: string | null }>(
    `SELECT count(*) AS some, CAST(max(CAST(id AS TEXT)) AS TEXT) AS last FROM events
      WHERE id > $1 AND kind NOT IN (${harmless})`,
    [since],
  );
  return seen === undefined || seen.some === 0 ? null : `${seen.some} ${seen.last}`;
}

/** What the job keeps between runs. */
export const lookForEnds = remembered(() => ({
  turns: 0,
  /** The count and last id of recent events when the job last looked for ended sessions. */
  lastLook: null as string | null,
  isLooking: false,
}));

/** Ends the grants that have lost their session or membership, and queues messages to clients. */
export async function noticeEnds(ctx: Context): Promise<void> {
  const kept = lookForEnds(ctx);
  if (kept.isLooking) return;
  kept.isLooking = true;
  try {
    kept.turns += 1;
    const latest = await findLatest(ctx);
    const isNew = latest !== null && latest !== kept.lastLook;
    // A session that expires does not write an event, so every 30th run looks anyway.
    if (!isNew && kept.turns % everyFewTurns !== 1) return;
    while ((await noticeSome(ctx)) === maxAtOnce);
    // Set last, so that after a failure the next run looks again.
    kept.lastLook = latest;
  } finally {
    kept.isLooking = false;
  }
}

/** Ends up to 100 of these grants; returns how many it found. */
async function noticeSome(ctx: Context): Promise<number> {
  // A grant of an expired session is deleted.
  const now = await timeOfExpiry(ctx);
  const found = await select<EndedGrant>(findEnded(ctx), [now, idleSince({ now })], {
    columns: { payload: 'json' },
  });
  for (const { grantId, sid, clientId, payload } of found) {
    const { accountId: sub } = payload;
    await transaction(() => noteSignOut(ctx, { grantId, sid, clientId, sub }));
  }
  return found.length;
}

/** Ends a grant, and queues a message if its client wants one. Call it inside a transaction. */
async function noteSignOut(
  ctx: Context,
  { grantId, sid, clientId, sub }: { grantId: string; sid: string; clientId: string; sub: string },
): Promise<void> {
  const [grant] = await select(
    `DELETE FROM provider_records WHERE grant_id = $1 AND model = 'Grant' RETURNING id`,
    [grantId],
  );
  // Another daemon has ended the grant already.
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

/**
 * Signs a person out of a client, and of its protected hosts, in all their sessions. Returns the
 * ids of those sessions. Call it inside a transaction.
 */
export async function signOutOf(
  ctx: Context,
  accountId: string,
  clientId: string,
): Promise<string[]> {
  const grants = await select<{ grantId: string; sid: string }>(
    `SELECT g.grant_id AS "grantId", g.session_id AS sid
      FROM provider_records g JOIN sessions s ON s.id = g.session_id
      WHERE g.model = 'Grant' AND g.client_id = $1 AND s.account_id = $2`,
    [clientId, accountId],
  );
  for (const grant of grants) await noteSignOut(ctx, { ...grant, clientId, sub: accountId });
  const left = await leaveHosts(accountId, clientId);
  return [...new Set([...grants.map(({ sid }) => sid), ...left])];
}
