import type { Context } from '../../../../context.ts';
import type { Account } from '../../../../database/models/account.ts';
import type { CodePurpose } from '../../../../database/models/mail-code.ts';
import { Refusal } from '../../../../errors.ts';
import { giveBack, type Limit, requireRoom, spend } from '../../../foundation/limits/limit.ts';
import { passwordLimits, rememberClient } from '../../../foundation/limits/password.ts';
import { requireMail } from '../../../foundation/mail/configured.ts';
import { findByEmail, lockAccount } from '../../../people/accounts/account.ts';
import { giveTryBack, type RightCode, spendCode, tryCode } from '../../../people/codes/code.ts';
import { reasonToRecord, recordRefusedSignIn } from '../../refused.ts';

/** A right code, and what it may open. */
export interface Opening {
  /** The account as it was when the code was compared. */
  account: Account;
  /**
   * Spends the code and returns the account as it is now, locked. Call it once, inside the caller's
   * transaction. Refuses `code_invalid` if another use came first.
   */
  open(): Promise<Account>;
}

/**
 * Runs `enter` for a right code. A wrong code counts like a wrong password, committed before the
 * comparison. All wrong codes get the same answer (security P7, P10); a refusal for another reason
 * costs no try.
 */
export async function answerCode<T>(
  ctx: Context,
  { email, code, purpose }: { email: string; code: string; purpose: CodePurpose },
  enter: (opening: Opening) => Promise<T>,
): Promise<T> {
  requireMail(ctx);
  const limits = await passwordLimits(ctx, email);
  await requireRoom(ctx, limits);
  await spend(ctx, limits);
  const account = await findByEmail(email);
  const right = await tryCode(ctx, { accountId: account?.id ?? null, purpose }, code);
  try {
    if (account === null || right === null || account.disabledAt !== null) throw codeInvalid();
    return await enter({ account, open: () => open(ctx, email, right, limits) });
  } catch (error) {
    if (isCodeInvalid(error)) await recordRefusedSignIn(ctx, refused(account));
    else await giveBack(ctx, limits);
    const reason = reasonToRecord(error);
    if (reason !== null) await recordRefusedSignIn(ctx, { method: 'magicCode', account, reason });
    if (right !== null) await giveTryBack(right);
    throw error;
  }
}

async function open(
  ctx: Context,
  email: string,
  code: RightCode,
  limits: Limit[],
): Promise<Account> {
  const account = await lockAccount(code.accountId);
  if (account === null || account.disabledAt !== null || !(await spendCode(code)))
    throw codeInvalid();
  await rememberClient(ctx, email);
  await giveBack(ctx, limits);
  return account;
}

function refused(account: Account | null) {
  const reason = account === null ? 'unknown_account' : 'wrong_code';
  return { method: 'magicCode' as const, account, reason };
}

/** The one answer to an invalid code, whatever the reason. */
export function codeInvalid(): Refusal {
  return new Refusal('code_invalid', 'This code is wrong or has expired.', {
    hint: 'Request a new one.',
  });
}

function isCodeInvalid(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'code_invalid';
}
