import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Refusal } from '../../../errors.ts';
import { ref } from '../../foundation/fields.ts';
import { holdAccount } from '../../people/accounts/account.ts';
import { requireRecentSignIn } from '../../people/two-factor/recent.ts';

/** What an owner approves: the digest of where the connection pointed when the owner looked. */
export const approveInput = z.strictObject({
  org: ref,
  pointsAt: z.string().max(100).describe('`pointsAt` of the view that was approved.'),
});

/** The stored approval after `approve`. */
export const approvedNow = { approved: true, lastApproved: null } as const;

/**
 * Refuses an owner with `recent_sign_in_required`, unless the session has a recent proof of
 * identity, with the second factor if the account has one. The operator does not need a session.
 */
export async function requireRecentOwner(ctx: Context): Promise<void> {
  const { actor } = ctx;
  if (actor.kind === 'user')
    await requireRecentSignIn(
      ctx,
      await Account.findByPk(actor.accountId, { rejectOnEmpty: true }),
    );
}

/** Refuses if the owner's session has ended since the request began. Call it in the transaction. */
export async function holdOwner(ctx: Context): Promise<void> {
  if (ctx.actor.kind === 'user') await holdAccount(ctx, ctx.actor.accountId);
}

/** Refuses with `connection_changed` if the connection now points elsewhere. */
export function requireSamePoints(now: { pointsAt: string }, given: { pointsAt: string }): void {
  if (now.pointsAt === given.pointsAt) return;
  throw new Refusal('connection_changed', 'The connection has changed since you looked at it.', {
    hint: 'Check where it points now, then approve it again.',
  });
}
