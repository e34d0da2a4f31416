import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import type { SealedPlace } from '../../../crypto/seal.ts';
import { matchTotp } from '../../../crypto/totp.ts';
import { Account } from '../../../database/models/account.ts';
import { Refusal } from '../../../errors.ts';
import { giveBack, spend } from '../../foundation/limits/limit.ts';
import { clientLimit, codeLimit } from '../../foundation/limits/password.ts';

/** A right code of the second factor: its account and its time step. */
export interface SecondFactor {
  accountId: string;
  step: number;
}

/**
 * Checks the code of the second factor; null if the account asks for none. Call it outside the
 * sign-in's transaction, whose rollback must not undo the count. `beginSession` spends the step.
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
 * The time step of a right code. Each try is counted before the comparison, and given back if
 * right: five wrong codes in a quarter of an hour (security P12). Call it outside transactions.
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
 * Accepts the answer inside the caller's transaction; true if the second factor is passed. It asks
 * again if that was enabled since, or if another account answered.
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

/** Accepts the time step once: only one of parallel uses of a code succeeds. */
export async function spendStep(accountId: string, step: number): Promise<void> {
  const unused = { [Op.or]: [{ totpLastStep: null }, { totpLastStep: { [Op.lt]: step } }] };
  const where = { id: accountId, ...unused };
  const [spent] = await Account.update({ totpLastStep: step }, { where });
  if (spent === 0) throw secondFactorInvalid();
}

/** The refusal that asks for a code; with the token `continuation`, the code can be sent alone. */
export function secondFactorRequired(continuation?: string): Refusal {
  return new Refusal('second_factor_required', 'A code of your authenticator is needed.', {
    hint: 'Send the current six digits as `totpCode`.',
    extra: { methods: ['totp'] },
    cause: { reason: 'second_factor_required' },
    ...(continuation === undefined ? {} : { continuation }),
  });
}

function secondFactorInvalid(): Refusal {
  return new Refusal('second_factor_invalid', 'This code is wrong or was used already.', {
    hint: 'Enter the next code that your authenticator shows. If that fails too, check the clock of its device.',
  });
}

const placeOf = (accountId: string): SealedPlace => ({
  table: 'accounts',
  column: 'totp_secret',
  row: accountId,
});

/** Seals the TOTP secret for storage, bound to its account (security P12). */
export function sealTotpSecret(ctx: Context, accountId: string, secret: string): string {
  return ctx.keyring.seal(secret, placeOf(accountId));
}

/** Opens the TOTP secret, to check a code with. */
export function openTotpSecret(ctx: Context, accountId: string, sealed: string): string {
  return ctx.keyring.open(sealed, placeOf(accountId));
}
