import type { Context } from '../../../context.ts';
import { type Account, hasSecondFactor, isProved } from '../../../database/models/account.ts';
import type { EntryPurpose } from '../../../database/models/mail-code.ts';
import { Refusal } from '../../../errors.ts';
import { countTry, type Limit } from '../../foundation/limits/limit.ts';
import { passwordLimits, rememberClient } from '../../foundation/limits/password.ts';
import { requireMail } from '../../foundation/mail/configured.ts';
import { findByEmail } from '../../people/accounts/account.ts';
import {
  codeInvalid,
  giveTryBack,
  type RightCode,
  spendCode,
  tryCode,
} from '../../people/codes/code.ts';
import type { GivenFactor } from '../../people/two-factor/second-factor.ts';
import { proveAddress } from '../../tenancy/addresses/prove-address.ts';
import { beginSession } from '../begin.ts';
import { attempt, method } from '../method.ts';
import { reasonToRecord, recordRefusedSignIn } from '../refused.ts';

/** A right code: its account, and how to spend it. */
interface Opening {
  /** The account as it was when the code was compared. */
  account: Account;
  /**
   * Spends the code and returns the account as it is now, locked. Call it once, inside the caller's
   * transaction. Refuses with `code_invalid` if another use came first, or the account can no
   * longer sign in.
   */
  spendCode(): Promise<Account>;
}

interface ByCode {
  input: { email: string; code: string } & GivenFactor;
  at: EntryPurpose;
  /** The account of the address, and the code if it is right. */
  seen: { account: Account | null; right: RightCode | null };
  proof: Opening;
}

/**
 * The sign-in with a mailed code. A wrong code counts like a wrong password, and towards its own
 * five attempts. The counts are committed before the comparison. All wrong codes get the same
 * answer (security P7, P10). A refusal for another reason does not count. The code is spent only
 * when the sign-in completes, so it survives a request for the second factor.
 */
export const byCode = method<ByCode>({
  name: 'magicCode',
  offered: async (ctx, _, signIn) => {
    requireMail(ctx);
    return signIn('signin');
  },
  limits: {
    of: (ctx, { input }) => passwordLimits(ctx, input.email),
    count: countTry,
    // `spendCode` gives the counts back, as it remembers the client.
    wrong: isCodeInvalid,
    afterError: async ({ seen: { right } }) => {
      if (right !== null) await giveTryBack(right);
    },
  },
  look: async (ctx, { input: { email, code }, at: purpose }) => {
    const account = await findByEmail(email);
    const right = await tryCode(ctx, { accountId: account?.id ?? null, purpose }, code);
    return { account, right };
  },
  prove: async (ctx, { input: { email }, seen: { account, right }, limits }) => {
    if (!opensByCode(account) || right === null) throw codeInvalid();
    return { proof: { account, spendCode: () => open(ctx, email, right, limits) }, account };
  },
  secondFactor: {
    inTwoSteps: 'never',
    given: (input) => input,
    // An unproved account's second factor belongs to an earlier holder (security P11).
    first: (account) => isProved(account) && hasSecondFactor(account),
  },
  enter: async (ctx, { spendCode }, { secondFactor }) => {
    const account = await spendCode();
    await proveAddress(ctx, account, 'another code');
    return beginSession(ctx, account, { method: 'magicCode', secondFactor });
  },
  events: {
    refused: async (ctx, { seen: { account }, input: { email } }, error) => {
      const wrongFor = account === null ? 'unknown_account' : 'wrong_code';
      const reason = isCodeInvalid(error) ? wrongFor : reasonToRecord(error);
      const method = 'magicCode';
      if (reason !== null) await recordRefusedSignIn(ctx, { method, account, email, reason });
    },
  },
});

/** Runs `enter` for a right code of this purpose. Counts and refuses as a sign-in with a code. */
export async function answerCode<T>(
  ctx: Context,
  { email, code, purpose }: { email: string; code: string; purpose: EntryPurpose },
  enter: (opening: Opening) => Promise<T>,
): Promise<T> {
  requireMail(ctx);
  const asked = { input: { email, code }, at: purpose, returnTo: '/' };
  return attempt(ctx, byCode, asked, async (tried) =>
    enter((await byCode.prove(ctx, tried)).proof),
  );
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

function isCodeInvalid(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'code_invalid';
}
