import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account, hasSecondFactor } from '../../database/models/account.ts';
import { Session } from '../../database/models/session.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { recordEvent } from '../foundation/events/record.ts';
import { operation } from '../foundation/operation.ts';
import { givenPassword, holdAccount } from '../people/accounts/account.ts';
import { requireCurrent } from '../people/credentials/operations.ts';
import { ownSessionOf } from '../people/sessions/end.ts';
import { marksOf } from '../people/tokens/token.ts';
import { factorsOf } from '../people/two-factor/asking.ts';
import { mayConfirmByTotp, recentSignInRequired } from '../people/two-factor/recent.ts';
import {
  acceptSecondFactor,
  isGiven,
  proveSecondFactor,
  type SecondFactor,
  secondFactorFields,
} from '../people/two-factor/second-factor.ts';

const confirmInput = z.strictObject({ password: givenPassword.optional(), ...secondFactorFields });

/**
 * Confirms the person of this session with the second factor, or with the password if the account
 * has no second factor. The session then counts as recent for ten minutes.
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
    const byTotp = given.passkey === undefined && !given.recoveryCode;
    if (byTotp && !(await mayConfirmByTotp(ctx, account)))
      throw await recentSignInRequired(ctx, account, given.browser);
    const answer = await proveSecondFactor(ctx, account, given, 'confirm');
    await transaction(async () => {
      await holdAccount(ctx, accountId);
      const now = await Account.findByPk(accountId, { rejectOnEmpty: true });
      const passed = await acceptSecondFactor(ctx, now, answer);
      // The session loses its mark, unless only a provider proved the person's identity when this
      // factor was added (security P12).
      const marked = (await marksOf(ctx)).vouchedBy !== null;
      const vouchedBy = marked ? (passed?.vouchedBy ?? null) : null;
      await Session.update({ secondFactorAt: ctx.now, vouchedBy }, { where: { id } });
      await recordConfirmed(ctx, id, accountId, kindOf(answer));
    });
  },
});

function recordConfirmed(
  ctx: Context,
  id: string,
  account: string,
  by: 'password' | 'totp' | 'passkey' | 'recovery',
): Promise<void> {
  const subject = { type: 'session', id };
  return recordEvent(ctx, { kind: 'session.confirmed', subject, data: { account, by } });
}

const fieldOf = { totp: 'totpCode', passkey: 'passkey', recovery: 'recoveryCode' } as const;

function kindOf(answer: SecondFactor) {
  if ('step' in answer) return 'totp';
  return 'passkeyId' in answer ? 'passkey' : 'recovery';
}

function sessionNeeded(): Refusal {
  return new Refusal('session_required', 'A token may not do this.', {
    hint: 'Sign in, and use that session instead.',
  });
}
