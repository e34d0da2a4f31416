import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { insertRow } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { remembered } from '../../../host/memory.ts';
import { timeOfExpiry } from '../../foundation/clock/clock.ts';
import { leaveHosts } from '../../tenancy/clients/forward.sql.ts';
import { deleteGrantRow, endGrant, grantsAt, hasLogoutUri } from './grants.sql.ts';
import { findEnded, findLatest } from './sign-outs.sql.ts';

// Finds the grants whose session or membership has ended, at clients with a back-channel logout
// URI. Many parts of the code can end a session or membership. So all grants at these clients are
// checked soon after each event that may have ended one.

const maxAtOnce = 100;

const everyFewTurns = 30;

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
  const found = await findEnded(ctx, await timeOfExpiry(ctx), maxAtOnce);
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
  // Another daemon may already have ended the grant.
  if (!(await deleteGrantRow(grantId))) return;
  await endGrant(grantId);
  if (!(await hasLogoutUri(clientId))) return;
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
  const grants = await grantsAt(clientId, accountId);
  for (const grant of grants) await noteSignOut(ctx, { ...grant, clientId, sub: accountId });
  const left = await leaveHosts(accountId, clientId);
  return [...new Set([...grants.map(({ sid }) => sid), ...left])];
}
