import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account, hasSecondFactor } from '../../database/models/account.ts';
import { Session } from '../../database/models/session.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { recordEvent } from '../foundation/events/record.ts';
import { operation } from '../foundation/operation.ts';
import { after } from '../foundation/time.ts';
import { givenPassword, holdAccount } from '../people/accounts/account.ts';
import { requireCurrent } from '../people/credentials/operations.ts';
import { askForPasskey } from '../people/passkeys/assertion.ts';
import { ownSessionOf } from '../people/sessions/end.ts';
import {
  acceptSecondFactor,
  factorsOf,
  isGiven,
  proveSecondFactor,
  secondFactorFields,
} from '../people/two-factor/second-factor.ts';

// What lasts longer than a session, such as a passkey, needs a recent proof of the person. A stolen
// session is no such proof, nor is a provider's sign-in for an account with a second factor
// (security P16).

const recentSeconds = 10 * 60;

/**
 * Refuses `recent_sign_in_required` unless the session passed the account's second factor in the
 * last ten minutes. If the account has none, it must have begun or been confirmed since.
 */
export async function requireRecentSignIn(
  ctx: Context,
  account: Account,
  given?: string,
): Promise<void> {
  if (await isRecentlyProven(ctx, account)) return;
  const { methods, asked } = await askToConfirm(ctx, account, given);
  throw new Refusal('recent_sign_in_required', 'Confirm that it is you first.', {
    hint: 'Call POST /api/v1/auth/confirm in this session, or sign in again.',
    extra: { methods, ...(asked === null ? {} : { passkeyOptions: asked.options }) },
    ...(asked === null ? {} : { browser: asked.browser }),
  });
}

/** How the person of an account can confirm, with the options for a passkey if that is a way. */
export async function askToConfirm(ctx: Context, account: Account, given: string | undefined) {
  const bound = { purpose: 'confirm', accountId: account.id } as const;
  const asked = account.hasPasskey ? await askForPasskey(ctx, bound, given) : null;
  return { methods: waysToConfirm(account), asked };
}

/** Whether the caller's session proves the person of the last ten minutes. */
export async function isRecentlyProven(ctx: Context, account: Account): Promise<boolean> {
  const id = ownSessionOf(ctx.actor);
  const session = id === null ? null : await Session.findByPk(id);
  if (session === null) return false;
  const { createdAt, confirmedAt, secondFactorAt } = session;
  const { totpEnabledAt } = account;
  // A code of a replaced authenticator proves nothing (security P15).
  const factor = secondFactorAt === null || (totpEnabledAt ?? secondFactorAt) > secondFactorAt;
  const proofs = hasSecondFactor(account)
    ? [factor ? null : secondFactorAt]
    : [createdAt, confirmedAt];
  return proofs.some((at) => at !== null && ctx.now < after(at, recentSeconds));
}

/** How the person of an account can confirm; none but signing in again if this is empty. */
function waysToConfirm(account: Account): ('password' | 'totp' | 'passkey')[] {
  if (hasSecondFactor(account)) return factorsOf(account);
  return account.passwordHash === null ? [] : ['password'];
}

const confirmInput = z.strictObject({ password: givenPassword.optional(), ...secondFactorFields });

/**
 * Confirms with the second factor who the person of this session is; with the password if the
 * account has no second factor. The session then counts as recent for ten minutes.
 */
export const confirmSession = operation({
  authority: 'me.credentials',
  input: confirmInput,
  run: async (ctx, { password, ...given }, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const id = ownSessionOf(ctx.actor);
    if (id === null) throw sessionNeeded();
    if (!hasSecondFactor(account)) {
      if (password === undefined) throw refuseField('password', 'is required');
      await requireCurrent(ctx, account, 'password', password);
      return transaction(async () => {
        await holdAccount(ctx, accountId);
        await Session.update({ confirmedAt: ctx.now }, { where: { id } });
        await recordConfirmed(ctx, id, accountId, 'password');
      });
    }
    if (!isGiven(given)) {
      const [field = 'totpCode'] = factorsOf(account).map((way) => fieldOf[way]);
      throw refuseField(field, 'is required');
    }
    const answer = await proveSecondFactor(ctx, account, given, 'confirm');
    await transaction(async () => {
      await holdAccount(ctx, accountId);
      const now = await Account.findByPk(accountId, { rejectOnEmpty: true });
      await acceptSecondFactor(now, answer);
      await Session.update({ secondFactorAt: ctx.now }, { where: { id } });
      await recordConfirmed(ctx, id, accountId, 'step' in answer ? 'totp' : 'passkey');
    });
  },
});

function recordConfirmed(
  ctx: Context,
  id: string,
  account: string,
  by: 'password' | 'totp' | 'passkey',
): Promise<void> {
  const subject = { type: 'session', id };
  return recordEvent(ctx, { kind: 'session.confirmed', subject, data: { account, by } });
}

const fieldOf = { totp: 'totpCode', passkey: 'passkey' } as const;

function sessionNeeded(): Refusal {
  return new Refusal('session_required', 'A token may not do this.', {
    hint: 'Sign in, and do it with that session.',
  });
}
