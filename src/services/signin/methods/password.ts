import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { knownClient } from '../../foundation/limits/known-client.ts';
import { passwordLimits, rememberClient } from '../../foundation/limits/password.ts';
import { giveBack, requireRoom, spend } from '../../foundation/limits/spend.ts';
import { findByEmail } from '../../people/accounts/find.ts';
import { lockAccount } from '../../people/accounts/lock.ts';
import { isEmailVerified } from '../../people/accounts/view.ts';
import { inWordsOf, signInFailed } from '../../people/sessions/failed.ts';
import type { signInInput } from '../../people/sessions/schema.ts';
import { answerSecondFactor } from '../../people/two-factor/answer.ts';
import { beginSession } from '../begin.ts';
import type { TwoSteps } from '../pending.ts';
import { reasonOfFailure, reasonToRecord, recordRefusedSignIn } from '../refused.ts';
import { holdPassword } from './password-second-step.ts';

type Input = z.output<typeof signInInput>;

/**
 * Password sign-in (spec §4.4). An unknown address, a wrong password, a disabled account and one that nobody has confirmed
 * get the same answer after the same work (security P7). The attempt is counted in a transaction of its own, before
 * the password is looked at, and given back when it was not refused (security P8). In two steps, a refusal that asks
 * for the code is answered by the code alone (`answerPendingSignIn`).
 */
export async function signIn(ctx: Context, input: Input, steps?: TwoSteps) {
  const client = await knownClient(ctx);
  await ctx.passwords.requirePlace(client);
  const limits = await passwordLimits(ctx, input.email);
  await requireRoom(ctx, limits);
  const found = await findByEmail(input.email);
  const countIt = () => spend(ctx, limits);
  const right = await ctx.passwords.verify(found?.passwordHash ?? null, input.password, countIt, client);
  try {
    if (found === null || !right) throw signInFailed(found === null ? 'unknown_account' : 'wrong_password');
    return await enter(ctx, input, found, { accepted: () => giveBack(ctx, limits), steps, client });
  } catch (error) {
    if (reasonOfFailure(error) === null) await giveBack(ctx, limits);
    const reason = reasonToRecord(error);
    if (reason !== null) await recordRefusedSignIn(ctx, { method: 'password', account: found, reason });
    throw inWordsOf('password', error);
  }
}

/** What follows a right password; `accepted` runs in the transaction that begins the session. */
async function enter(
  ctx: Context,
  input: Input,
  found: Account,
  {
    accepted,
    steps,
    client,
  }: { accepted: () => Promise<void>; steps: TwoSteps | undefined; client: string | null },
) {
  // Asked before a code is: only an account that may sign in is told that its password was right.
  if (found.disabledAt !== null || found.passwordHash === null) throw signInFailed('account_disabled');
  // Told apart, whoever signs up with an address would learn here whether there was an account.
  if (!isEmailVerified(ctx, found)) throw signInFailed('email_unverified');
  const answer = answerSecondFactor(ctx, found, input.totpCode);
  const held = { account: found, password: input.password };
  const secondFactor = await (steps === undefined
    ? answer
    : answer.catch((error: unknown) => holdPassword(ctx, { ...held, ...steps }, error)));
  const checked = found.passwordHash;
  const rehashed = ctx.passwords.needsRehash(checked)
    ? await ctx.passwords.hash(input.password, client)
    : checked;
  return transaction(async () => {
    // Refuses when the password checked has been changed, or the account deleted, while the hash was computed.
    if (rehashed !== checked) await lockAccount(found.id, 'alone');
    const session = await beginSession(ctx, found, { method: 'password', secondFactor });
    if (rehashed !== checked) await found.update({ passwordHash: rehashed });
    await rememberClient(ctx, input.email);
    await accepted();
    return session;
  });
}
