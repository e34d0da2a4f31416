import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { isProved } from '../../../database/models/account.ts';
import type { EntryPurpose } from '../../../database/models/mail-code.ts';
import { transaction } from '../../../database/transaction.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { email } from '../../foundation/fields.ts';
import { countAsking } from '../../foundation/limits/mail.ts';
import { requireMail } from '../../foundation/mail/configured.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { queueAsked } from '../../foundation/mail/queue.ts';
import { givenPassword } from '../../people/accounts/account.ts';
import { hashNewPassword } from '../../people/accounts/password.ts';
import { codeInvalid, givenCode, isOwnSignUp } from '../../people/codes/code.ts';
import { endSignIns } from '../../people/credentials/credentials.ts';
import { signedInView } from '../../people/sessions/schema.ts';
import {
  acceptSecondFactor,
  answerSecondFactor,
  secondFactorFields,
} from '../../people/two-factor/second-factor.ts';
import { proveAddress } from '../../tenancy/addresses/prove-address.ts';
import { beginSession, requireSession } from '../begin.ts';
import { answerCode } from './magic-code.ts';

/** The address of the account that the code is for. */
export const requestCodeInput = z.strictObject({ email });
/** The input to confirm an address. The ticket or password shows that this client signed up. */
export const verifyEmailInput = z.strictObject({
  email,
  code: givenCode,
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
export const signInByCodeInput = z.strictObject({ email, code: givenCode, ...secondFactorFields });
export const resetPasswordInput = z.strictObject({
  email,
  code: givenCode,
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

async function request(ctx: Context, { email }: CodeRequest, purpose: EntryPurpose) {
  requireMail(ctx);
  await transaction(async () => {
    await countAsking(ctx);
    await queueAsked(ctx, { about: 'code', purpose, email });
  });
  return {};
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
      // If the address was proved in the meantime, this code no longer signs in.
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
      await acceptSecondFactor(ctx, account, secondFactor);
      await account.update({ passwordHash, passwordUnapproved: false });
      await endSignIns(ctx, { accountId: account.id });
      await recordEvent(ctx, {
        kind: 'user.password.reset',
        subject: { type: 'user', id: account.id, name: account.name },
      });
      await notify(ctx, account, { what: 'password-changed' });
    });
  });
}
