import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { matchTotp } from '../../../crypto/totp.ts';
import { Account } from '../../../database/models/account.ts';
import { giveBack, spend } from '../../foundation/limits/limit.ts';
import { clientLimit, codeLimit } from '../../foundation/limits/password.ts';
import { secondFactorInvalid, secondFactorRequired } from './refusals.ts';
import { openTotpSecret } from './secret.ts';

/** A right code of the second factor: its account and its time step. */
export interface SecondFactor {
  accountId: string;
  step: number;
}

/**
 * Checks the code of the second factor; null if the account asks for none. Call it outside the
 * sign-in's transaction, whose rollback must not undo the count of wrong codes. `beginSession` then
 * spends the step inside. Refuses `second_factor_required` without a code, `second_factor_invalid`
 * for a wrong one.
 */
export async function answerSecondFactor(
  ctx: Context,
  account: Account,
  code: string | undefined,
): Promise<SecondFactor | null> {
  const { id, totpSecret, totpEnabledAt } = account;
  if (totpEnabledAt === null || totpSecret === null) return null;
  if (code === undefined || code === '') throw secondFactorRequired();
  return { accountId: id, step: await requireRightCode(ctx, { id, totpSecret }, code) };
}

/**
 * The time step of a right code. Each try counts against the account before the comparison, at
 * every endpoint, and is given back if the code was right. So there are five wrong codes in a
 * quarter of an hour at most (security P12). Call it outside transactions.
 */
export async function requireRightCode(
  ctx: Context,
  of: { id: string; totpSecret: string },
  code: string,
): Promise<number> {
  const limits = [codeLimit(of.id), clientLimit(ctx)];
  await spend(ctx, limits);
  const step = matchTotp(openTotpSecret(ctx, of.id, of.totpSecret), code, ctx.now);
  if (step === null) throw secondFactorInvalid();
  await giveBack(ctx, limits);
  return step;
}

/** Whether the account, as it is now, asks for a code that this answer does not give. */
export function isAnswerMissing(
  { id, totpEnabledAt }: Pick<Account, 'id' | 'totpEnabledAt'>,
  answer: SecondFactor | null,
): boolean {
  return totpEnabledAt !== null && answer?.accountId !== id;
}

/**
 * Accepts the answer inside the caller's transaction; true if the account has a second factor,
 * which is then passed. The account as it is now decides. It asks again if its second factor was
 * enabled since, or if another account answered.
 */
export async function acceptSecondFactor(
  account: Pick<Account, 'id' | 'totpEnabledAt'>,
  answer: SecondFactor | null,
): Promise<boolean> {
  if (account.totpEnabledAt === null) return false;
  if (answer === null || isAnswerMissing(account, answer)) throw secondFactorRequired();
  await spendStep(account.id, answer.step);
  return true;
}

/**
 * Accepts the time step once: with one conditional UPDATE, only one of parallel uses of a code
 * succeeds.
 */
export async function spendStep(accountId: string, step: number): Promise<void> {
  const unused = { [Op.or]: [{ totpLastStep: null }, { totpLastStep: { [Op.lt]: step } }] };
  const [spent] = await Account.update(
    { totpLastStep: step },
    { where: { id: accountId, ...unused } },
  );
  if (spent === 0) throw secondFactorInvalid();
}
