import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { signInFailed } from '../sessions/failed.ts';
import { answerSecondFactor } from '../two-factor/answer.ts';
import { admit } from './admit.ts';
import { keepAttempt } from './attempt.ts';
import { requirePending, spendPending } from './pending.ts';
import type { secondFactorInput } from './schema.ts';

/**
 * Finishes a sign-in by redirect with the code of the second factor. A wrong code leaves it waiting; a
 * right one uses it up, and everything else about the sign-in is asked anew.
 */
export async function answerPendingSignIn(ctx: Context, input: z.output<typeof secondFactorInput>) {
  const { id, accountId, arrival } = await requirePending(ctx, input.pending);
  const account = await Account.findByPk(accountId);
  if (account === null || account.disabledAt !== null) throw signInFailed('account_disabled');
  const step = await answerSecondFactor(ctx, account, input.totpCode);
  await spendPending(id);
  const { state, proof } = arrival;
  return keepAttempt(ctx, state.connection, (learn) => {
    learn(proof);
    return admit(ctx, state, proof, step);
  });
}
