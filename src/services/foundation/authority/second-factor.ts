import type { Actor, Context } from '../../../context.ts';
import { Account, hasSecondFactor, passedCurrentFactor } from '../../../database/models/account.ts';
import { Session } from '../../../database/models/session.ts';
import { Refusal } from '../../../errors.ts';
import { requirePerson } from './require.ts';
import type { SecondFactorRight } from './table.ts';

/** Requires that the actor's session passed the account's own second factor (security P15). */
export async function requireSecondFactor(
  ctx: Context,
  operation: SecondFactorRight,
): Promise<void> {
  const actor = requirePerson(ctx, operation);
  const account = await Account.findByPk(actor.accountId, { rejectOnEmpty: true });
  if (!hasSecondFactor(account)) {
    throw secondFactorMissing(
      'Add a passkey or enable two-factor authentication first, then sign in again with it.',
    );
  }
  await requirePassed(actor, account);
}

/** Like `requireSecondFactor`, but only if the actor's account has a second factor. */
export async function requireSecondFactorIfAny({ actor }: Context): Promise<void> {
  if (actor.kind !== 'user') return;
  const account = await Account.findByPk(actor.accountId, { rejectOnEmpty: true });
  if (hasSecondFactor(account)) await requirePassed(actor, account);
}

async function requirePassed(proof: Actor & { kind: 'user' }, account: Account): Promise<void> {
  const session = proof.via === 'session' ? await Session.findByPk(proof.sessionId) : null;
  if (session !== null && passedCurrentFactor(session, account)) return;
  throw secondFactorMissing('Sign in again in a way that asks for your second factor.');
}

function secondFactorMissing(hint: string): Refusal {
  return new Refusal(
    'session_required',
    'This needs a session that passed your own second factor.',
    { hint },
  );
}
