import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { type Account, isProved } from '../../../database/models/account.ts';
import type { CodePurpose } from '../../../database/models/mail-code.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { email } from '../../foundation/fields.ts';
import { countTry, giveBack, type Limit } from '../../foundation/limits/limit.ts';
import { countAsking } from '../../foundation/limits/mail.ts';
import { passwordLimits, rememberClient } from '../../foundation/limits/password.ts';
import { requireMail } from '../../foundation/mail/configured.ts';
import { queueAsked } from '../../foundation/mail/queue.ts';
import { findByEmail, givenPassword } from '../../people/accounts/account.ts';
import { hashNewPassword } from '../../people/accounts/password.ts';
import {
  giveTryBack,
  isOwnSignUp,
  type RightCode,
  spendCode,
  tryCode,
} from '../../people/codes/code.ts';
import { endSignIns } from '../../people/credentials/credentials.ts';
import { signedInView } from '../../people/sessions/schema.ts';
import {
  acceptSecondFactor,
  answerSecondFactor,
  secondFactorFields,
} from '../../people/two-factor/second-factor.ts';
import { proveAddress } from '../../tenancy/addresses/prove-address.ts';
import { beginSession, requireSession } from '../begin.ts';
import { reasonToRecord, recordRefusedSignIn } from '../refused.ts';

const code = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'must be the six digits of the mail'));

/** The address of the account that the code is for. */
export const requestCodeInput = z.strictObject({ email });
/** The input to confirm an address. The ticket or password shows that this client signed up. */
export const verifyEmailInput = z.strictObject({
  email,
  code,
  password: givenPassword
    .optional()
    .describe('The password chosen at sign-up. To keep it, send it or the cookie of the sign-up.'),
  ticket: z.string().max(4096).optional(),
});
/** The answer to a confirmed address: the new session, and whether the account has a password. */
export const verifiedView = signedInView.extend({
  passwordKept: z
    .boolean()
    .describe(
      'Whether the account has a password. If not, choose one: `POST /api/v1/auth/password/reset`.',
    ),
});
export const signInByCodeInput = z.strictObject({ email, code, ...secondFactorFields });
export const resetPasswordInput = z.strictObject({
  email,
  code,
  newPassword: givenPassword,
  ...secondFactorFields,
});

/** The same answer for every caller and every address. */
export const requestedView = z.object({});

// A request for a code does not check that the account exists. The job that writes the mail does,
// so the response time reveals nothing (security P7). That job also drops mails over the limit of
// a mailbox, without an error.

type CodeRequest = z.output<typeof requestCodeInput>;

/** Mails a code to sign in with. */
export const requestMagicCode = (ctx: Context, input: CodeRequest) => request(ctx, input, 'signin');

/** Mails a code to choose a new password with. */
export const requestPasswordReset = (ctx: Context, input: CodeRequest) =>
  request(ctx, input, 'reset');

/** Mails a new code to confirm the address of a new account. */
export const resendVerification = (ctx: Context, input: CodeRequest) =>
  request(ctx, input, 'verify');

async function request(ctx: Context, { email }: CodeRequest, purpose: CodePurpose) {
  requireMail(ctx);
  await transaction(async () => {
    await countAsking(ctx);
    await queueAsked(ctx, { about: 'code', purpose, email });
  });
  return {};
}

/** A right code: its account, and how to spend it. */
interface Opening {
  /** The account as it was when the code was compared. */
  account: Account;
  /**
   * Spends the code and returns the account as it is now, locked. Call it once, inside the caller's
   * transaction. Refuses `code_invalid` if another use came first, or the account is shut out now.
   */
  spendCode(): Promise<Account>;
}

/**
 * Runs `enter` for a right code. A wrong code counts like a wrong password; the count is committed
 * before the comparison. All wrong codes get the same answer (security P7, P10). A refusal for
 * another reason does not count.
 */
export async function answerCode<T>(
  ctx: Context,
  { email, code, purpose }: { email: string; code: string; purpose: CodePurpose },
  enter: (opening: Opening) => Promise<T>,
): Promise<T> {
  requireMail(ctx);
  const limits = await passwordLimits(ctx, email);
  await countTry(ctx, limits);
  const account = await findByEmail(email);
  const right = await tryCode(ctx, { accountId: account?.id ?? null, purpose }, code);
  try {
    if (!opensByCode(account) || right === null) throw codeInvalid();
    return await enter({ account, spendCode: () => open(ctx, email, right, limits) });
  } catch (error) {
    const wrong = error instanceof Refusal && error.code === 'code_invalid';
    if (!wrong) await giveBack(ctx, limits);
    const wrongFor = account === null ? 'unknown_account' : 'wrong_code';
    const reason = wrong ? wrongFor : reasonToRecord(error);
    if (reason !== null) await recordRefusedSignIn(ctx, { method: 'magicCode', account, reason });
    if (right !== null) await giveTryBack(right);
    throw error;
  }
}

async function open(ctx: Context, email: string, code: RightCode, limits: Limit[]) {
  const account = await spendCode(code);
  if (!opensByCode(account)) throw codeInvalid();
  await rememberClient(ctx, email, limits);
  return account;
}

/** Whether a right code may open this account. */
export function opensByCode(account: Account | null): account is Account {
  return account !== null && account.disabledAt === null;
}

/** The one answer to an invalid code, whatever the reason. */
function codeInvalid(): Refusal {
  return new Refusal('code_invalid', 'This code is wrong or has expired.', {
    hint: 'Request a new one.',
  });
}

/**
 * Confirms the address of a new account with the mailed code, and signs in (spec §4.4 sign-up). The
 * password stays only if this client chose it (security P11); `passwordKept` says so.
 */
export async function verifyEmail(ctx: Context, input: z.output<typeof verifyEmailInput>) {
  return answerCode(ctx, { ...input, purpose: 'verify' }, async ({ account: found, spendCode }) => {
    // Checked outside the transaction, as hashing takes time.
    const own = await isOwnSignUp(ctx, found, input);
    return transaction(async () => {
      const account = await spendCode();
      // If the address was proved meanwhile, this code no longer signs in.
      if (account.emailProof !== 'none') throw codeInvalid();
      const kept = own && account.passwordHash === found.passwordHash;
      await proveAddress(ctx, account, kept ? 'signup' : 'another code');
      const via = { method: 'verification' as const, secondFactor: null };
      const begun = await beginSession(ctx, account, via);
      return { ...requireSession(begun), passwordKept: account.passwordHash !== null };
    });
  });
}

/** Sets a new password with a mailed code. Ends all sessions, codes, links and pending sign-ins. */
export async function resetPassword(ctx: Context, input: z.output<typeof resetPasswordInput>) {
  await answerCode(ctx, { ...input, purpose: 'reset' }, async ({ account: found, spendCode }) => {
    // An unproved account's second factor belongs to an earlier holder (security P11).
    const own = isProved(found);
    const passwordHash = await hashNewPassword(ctx, input.newPassword, found, 'newPassword');
    const secondFactor = own ? await answerSecondFactor(ctx, found, input) : null;
    await transaction(async () => {
      const account = await spendCode();
      await proveAddress(ctx, account, 'another code');
      await acceptSecondFactor(account, secondFactor);
      await account.update({ passwordHash, passwordUnapproved: false });
      await endSignIns(ctx, { accountId: account.id });
      await recordEvent(ctx, {
        kind: 'user.password.reset',
        subject: { type: 'user', id: account.id, name: account.name },
      });
    });
  });
}
