import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { SealedColumn } from '../../../crypto/seal.ts';
import { matchTotp } from '../../../crypto/totp.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { Refusal } from '../../../errors.ts';
import { giveBack, spend } from '../../foundation/limits/limit.ts';
import { clientLimit, codeLimit } from '../../foundation/limits/password.ts';
import { findRecoveryCode, useRecoveryCode } from '../codes/recovery-code.ts';
import { assertionInput, checkAssertion, type GivenAssertion } from '../passkeys/assertion.ts';
import { browserCookie } from '../passkeys/challenge.ts';
import { findPasskey, recordRefusedPasskey } from '../passkeys/passkey.ts';
import { askAgain, askSecondFactor, secondFactorRequired } from './asking.ts';

/** A right answer to the second factor: its account, and a time step, a passkey or a code. */
export type SecondFactor = { accountId: string } & (
  | { step: number }
  | { passkeyId: string }
  | { recoveryCodeId: string }
);

/** The fields in which a person sends the second factor; `browser` is a cookie. */
export const secondFactorFields = {
  totpCode: z.string().max(20).optional(),
  recoveryCode: z
    .string()
    .max(100)
    .optional()
    .describe('In place of a code of the authenticator: an unused recovery code.'),
  passkey: assertionInput.optional().describe('In place of a code: the answer of a passkey.'),
  browser: browserCookie,
};

/** An answer to the second factor, as given. */
export interface GivenFactor {
  totpCode?: string | undefined;
  recoveryCode?: string | undefined;
  passkey?: GivenAssertion | undefined;
  browser?: string | undefined;
}

/** Whether an answer was given, right or wrong. */
export function isGiven({ totpCode, recoveryCode, passkey }: GivenFactor): boolean {
  return passkey !== undefined || Boolean(totpCode) || Boolean(recoveryCode);
}

/**
 * Checks the answer to the second factor; null if the account has none. Call it outside the
 * sign-in's transaction, whose rollback must not undo the count. `useSecondFactor` uses the answer
 * up.
 */
export async function answerSecondFactor(
  ctx: Context,
  account: Account,
  given: GivenFactor,
): Promise<SecondFactor | null> {
  if (!hasSecondFactor(account)) return null;
  if (!isGiven(given)) throw await askSecondFactor(ctx, account, given.browser);
  try {
    return await proveSecondFactor(ctx, account, given, 'secondFactor');
  } catch (error) {
    throw await askAgain(ctx, account, given.browser, error);
  }
}

/** Checks a code, recovery code or passkey. Refuses with `second_factor_invalid`. Call it outside transactions. */
export async function proveSecondFactor(
  ctx: Context,
  account: Account,
  { totpCode, recoveryCode, passkey, browser }: GivenFactor,
  purpose: 'secondFactor' | 'confirm',
): Promise<SecondFactor> {
  const { id, totpSecret, totpEnabledAt } = account;
  if (passkey !== undefined)
    return {
      accountId: id,
      passkeyId: await requirePasskey(ctx, account, { passkey, browser, purpose }),
    };
  if (recoveryCode)
    return { accountId: id, recoveryCodeId: await requireRecoveryCode(ctx, id, recoveryCode) };
  if (totpEnabledAt === null || totpSecret === null) throw secondFactorInvalid();
  return { accountId: id, step: await requireRightCode(ctx, { id, totpSecret }, totpCode ?? '') };
}

async function requirePasskey(
  ctx: Context,
  account: Account,
  given: {
    passkey: GivenAssertion;
    browser: string | undefined;
    purpose: 'secondFactor' | 'confirm';
  },
): Promise<string> {
  const { passkey, browser, purpose } = given;
  const limits = [clientLimit(ctx)];
  await spend(ctx, limits);
  const checked = await checkAssertion(ctx, passkey, { purpose, accountId: account.id }, browser);
  if ('refused' in checked) {
    await recordRefusedPasskey(ctx, account, { purpose, reason: checked.refused });
    throw passkeyInvalid();
  }
  await giveBack(ctx, limits);
  return checked.passkeyId;
}

/** The time step of a right code. Counts like `requireRight`. */
export function requireRightCode(
  ctx: Context,
  of: { id: string; totpSecret: string },
  code: string,
): Promise<number> {
  const match = () => matchTotp(openTotpSecret(ctx, of.id, of.totpSecret), code, ctx.now);
  return requireRight(ctx, of.id, match, secondFactorInvalid);
}

/** The id of a right recovery code. Counts like `requireRight`. */
function requireRecoveryCode(ctx: Context, accountId: string, code: string): Promise<string> {
  const match = () => findRecoveryCode(ctx, accountId, code);
  return requireRight(ctx, accountId, match, recoveryCodeInvalid);
}

/**
 * Returns what a right code matches. The attempt is counted before the comparison; the count of a
 * right code is given back. Allows five wrong codes of any kind in 15 minutes (security P12, P17).
 * Call it outside transactions.
 */
async function requireRight<Match>(
  ctx: Context,
  accountId: string,
  match: () => Match | null | Promise<Match | null>,
  invalid: () => Refusal,
): Promise<Match> {
  const limits = [codeLimit(accountId), clientLimit(ctx)];
  await spend(ctx, limits);
  const right = await match();
  if (right === null) throw invalid();
  await giveBack(ctx, limits);
  return right;
}

/** The facts of an account that decide about its second factor. */
type FactorFacts = Pick<
  Account,
  | 'id'
  | 'name'
  | 'email'
  | 'emailProof'
  | 'totpEnabledAt'
  | 'totpVouchedBy'
  | 'hasPasskey'
  | 'hasRecoveryCodes'
>;

/** A passed second factor, and the organization whose provider was the only proof to add it. */
interface Passed {
  vouchedBy: string | null;
}

/**
 * Uses the answer up, inside the caller's transaction; null if the account, as it is now, has no
 * second factor. Returns `missing` if there is no answer, or one for another account. With
 * `endsCodes`, the caller ends all recovery codes, and tells the person.
 */
export async function useSecondFactor(
  ctx: Context,
  account: FactorFacts,
  answer: SecondFactor | null,
  how: { endsCodes?: boolean } = {},
): Promise<Passed | null | 'missing'> {
  if (!hasSecondFactor(account)) return null;
  if (answer?.accountId !== account.id) return 'missing';
  if ('step' in answer) {
    await spendStep(account.id, answer.step);
    return { vouchedBy: account.totpVouchedBy };
  }
  if ('recoveryCodeId' in answer) {
    const used = await useRecoveryCode(ctx, account, answer.recoveryCodeId, how);
    if (used === null) throw recoveryCodeInvalid();
    return { vouchedBy: used.vouchedBy };
  }
  const passkey = await findPasskey(account.id, answer.passkeyId);
  // The passkey may have been removed since it answered.
  if (passkey === null) throw passkeyInvalid();
  return { vouchedBy: passkey.vouchedBy };
}

/** Like `useSecondFactor`, but asks again if the answer is missing. */
export async function acceptSecondFactor(
  ctx: Context,
  account: FactorFacts,
  answer: SecondFactor | null,
  how: { endsCodes?: boolean } = {},
): Promise<Passed | null> {
  const passed = await useSecondFactor(ctx, account, answer, how);
  if (passed === 'missing') throw secondFactorRequired(account);
  return passed;
}

/** Uses up the time step, so that only one of several parallel uses of a code succeeds. */
async function spendStep(accountId: string, step: number): Promise<void> {
  const unused = { [Op.or]: [{ totpLastStep: null }, { totpLastStep: { [Op.lt]: step } }] };
  const where = { id: accountId, ...unused };
  const [spent] = await Account.update({ totpLastStep: step }, { where });
  if (spent === 0) throw secondFactorInvalid();
}

function secondFactorInvalid(): Refusal {
  return new Refusal('second_factor_invalid', 'This code is wrong or has already been used.', {
    hint: 'Enter the next code that your authenticator shows. If that fails too, check the clock of its device.',
  });
}

function recoveryCodeInvalid(): Refusal {
  return new Refusal('second_factor_invalid', 'This code is wrong or has already been used.', {
    hint: 'Check the code, or enter another recovery code. Each one is valid once.',
  });
}

/** The refusal of an invalid passkey response. It is the same for every reason. */
function passkeyInvalid(): Refusal {
  return new Refusal('second_factor_invalid', 'This passkey was not accepted.', {
    hint: 'Try again, or use another passkey.',
  });
}

const columnOf = (accountId: string): SealedColumn => ({
  table: 'accounts',
  column: 'totp_secret',
  row: accountId,
});

/** Seals the TOTP secret for storage, bound to its account (security P12). */
export function sealTotpSecret(ctx: Context, accountId: string, secret: string): string {
  return ctx.keyring.seal(secret, columnOf(accountId));
}

/** Opens the TOTP secret, to check a code with. */
export function openTotpSecret(ctx: Context, accountId: string, sealed: string): string {
  return ctx.keyring.open(sealed, columnOf(accountId));
}
