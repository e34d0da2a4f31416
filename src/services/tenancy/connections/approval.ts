import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { EventActor } from '../../../database/models/event.ts';
import type { Standing } from '../../foundation/authority/require.ts';
import { viewActor } from '../../foundation/events/record.ts';
import { actorView, withoutSystemAccount } from '../../foundation/events/view.ts';

// An admin may save a connection, but only an owner in a session or the operator may decide which
// provider or directory signs owners in (security I8).

/** The values that decide which provider or directory a connection trusts, by name. */
export type Pointing = Record<string, string | boolean | null>;

/** The approval of a connection, as stored. */
export interface Approval {
  approved: boolean;
  lastApproved: Pointing | null;
  changedBy: EventActor | null;
  offByOwner: boolean;
}

export const approvalView = z.object({
  approved: z
    .boolean()
    .describe('Whether an owner or the operator has approved where the connection points.'),
  changedBy: actorView.nullable().describe('Who last changed where it points, if that is known.'),
  pointsAt: z.string().describe('A digest of where it points. Send it to `approve`.'),
});

/** Whether the connection may sign owners in (security I8). */
export function isApproved({ approved }: Pick<Approval, 'approved'>): boolean {
  return approved;
}

/** The approval in a view of the connection. */
export function viewApproval(
  { approved, changedBy }: Pick<Approval, 'approved' | 'changedBy'>,
  pointing: Pointing,
) {
  return { approved, changedBy, pointsAt: digestOf(pointing) };
}

/** A digest of where a connection points. */
export function digestOf(pointing: Pointing): string {
  return createHash('sha256').update(JSON.stringify(pointing)).digest('base64url');
}

// A change to one of these values makes the connection stricter, so it does not need a new
// approval.
const stricter: Pointing = { requireLocalTwoFactor: true, ignoreEmailVerified: false };

/** The pointing values that differ, except those that became stricter. */
export function pointingChanges(before: Pointing | null, after: Pointing) {
  return Object.entries(after).flatMap(([field, to]) => {
    const from = before?.[field] ?? null;
    return from === to || stricter[field] === to ? [] : [{ field, from, to }];
  });
}

/** The approval after another organization took the domain of the connection. */
export function withdrawApproval(stored: Approval, before: Pointing): Approval {
  const lastApproved = stored.approved ? before : stored.lastApproved;
  // The actor belongs to the other organization.
  return { approved: false, lastApproved, changedBy: null, offByOwner: false };
}

/** The settings that a save names; `all` if it sets every one, `applied` for a document. */
export type Named = readonly string[] | 'all' | 'applied';

/** The settings that an input names. */
export function namedIn(input: Record<string, unknown>): Named {
  return Object.keys(input).filter((name) => input[name] !== undefined);
}

/** A change that saves a connection, enables it or disables it. */
interface Saving {
  /** Where the connection pointed, or null if it is new. */
  before: Pointing | null;
  after: Pointing;
  enabled: boolean;
  named: Named;
}

/** Whether the actor's save can approve: an owner in a session, or the operator. */
function isApprover({ actor }: Context, role: Standing['role']): boolean {
  if (role === 'operator') return true;
  return role === 'owner' && actor.kind === 'user' && actor.via === 'session';
}

/** The approval of a connection after a save. The caller has locked the stored connection. */
export async function approvalAfter(
  ctx: Context,
  { organization, role }: Standing,
  stored: (Approval & { enabled: boolean }) | null,
  saving: Saving,
): Promise<Approval> {
  const points = pointingChanges(saving.before, saving.after).length > 0;
  const mayApprove = isApprover(ctx, role);
  const approved = decide(stored, saving, { points, mayApprove });
  const wasApproved = stored?.approved === true;
  const isChanged = stored === null || points || (wasApproved && !approved);
  const owner = role === 'owner' || role === 'operator';
  const switchedOff = stored?.enabled === true && !saving.enabled;
  return {
    approved,
    lastApproved: approved ? null : wasApproved ? saving.before : (stored?.lastApproved ?? null),
    changedBy: isChanged
      ? withoutSystemAccount(await viewActor(ctx.actor, organization.id))
      : stored.changedBy,
    offByOwner: !saving.enabled && (switchedOff ? owner : stored?.offByOwner === true),
  };
}

function decide(
  stored: (Approval & { enabled: boolean }) | null,
  { after, enabled, named }: Saving,
  { points, mayApprove }: { points: boolean; mayApprove: boolean },
): boolean {
  if (stored === null) return mayApprove;
  if (mayApprove) {
    const isWhole = named === 'all' || (named === 'applied' && points);
    const isNamed = Array.isArray(named) && Object.keys(after).every((one) => named.includes(one));
    return stored.approved || isWhole || isNamed;
  }
  // An owner who switched the connection off has withdrawn it.
  const isReturned = enabled && !stored.enabled && stored.offByOwner;
  return stored.approved && !points && !isReturned;
}
