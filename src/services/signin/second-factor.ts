import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { signInFailed } from '../people/sessions/failed.ts';
import { answerSecondFactor, type SecondFactor } from '../people/two-factor/answer.ts';
import { keepAttempt } from './attempts/attempt.ts';
import { enterByDirectory } from './methods/ldap/second-step.ts';
import { enterByLink } from './methods/link.ts';
import { enterByPassword } from './methods/password-second-step.ts';
import { admitSocial } from './methods/social/admit.ts';
import { admit } from './methods/sso/admit.ts';
import { type Arrival, requirePending, spendPending } from './pending.ts';

export const secondFactorInput = z.strictObject({
  totpCode: z.string().max(20),
  pending: z.string().max(200).optional(),
});

/**
 * Finishes a sign-in in two steps, by redirect, link or screen, with the code of the second factor. A wrong code leaves it waiting; a
 * right one uses it up, and everything else about the sign-in is asked anew.
 */
export async function answerPendingSignIn(ctx: Context, input: z.output<typeof secondFactorInput>) {
  const { id, accountId, arrival } = await requirePending(ctx, input.pending);
  const account = await Account.findByPk(accountId);
  if (account === null || account.disabledAt !== null) throw signInFailed('account_disabled');
  const answer = await answerSecondFactor(ctx, account, input.totpCode);
  await spendPending(id);
  const session = await goOn(ctx, account, arrival, answer);
  return { ...session, returnTo: returnToOf(arrival) };
}

function goOn(ctx: Context, account: Account, arrival: Arrival, answer: SecondFactor | null) {
  switch (arrival.by) {
    case 'sso':
      return keepAttempt(ctx, arrival.state.connection, (learn) => {
        learn(arrival.said);
        return admit(ctx, arrival.state, arrival.said, answer);
      });
    case 'social':
      return admitSocial(ctx, arrival.state, arrival.person, answer);
    case 'loginLink':
      return enterByLink(ctx, account, answer);
    case 'password':
      return enterByPassword(ctx, account, arrival, answer);
    case 'ldap':
      return enterByDirectory(ctx, arrival, answer);
  }
}

function returnToOf(arrival: Arrival): string {
  if (arrival.by === 'loginLink') return '/';
  return 'state' in arrival ? arrival.state.returnTo : arrival.returnTo;
}
