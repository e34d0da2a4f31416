import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Refusal } from '../../../errors.ts';
import type { Part } from '../../../next.ts';
import { type AssertionOptions, askForPasskey } from '../passkeys/assertion.ts';

// How a sign-in asks for the second factor.

/** The facts of an account that show its second factors. */
type Facts = Pick<Account, 'totpEnabledAt' | 'hasPasskey' | 'hasRecoveryCodes'>;

/** One kind of second factor. */
export type Factor = 'totp' | 'passkey' | 'recovery';

/** The second factors that an account has; `recovery` while it has unused recovery codes. */
export function factorsOf({ totpEnabledAt, hasPasskey, hasRecoveryCodes }: Facts): Factor[] {
  return [
    ...(totpEnabledAt === null ? [] : (['totp'] as const)),
    ...(hasPasskey ? (['passkey'] as const) : []),
    ...(hasRecoveryCodes ? (['recovery'] as const) : []),
  ];
}

/** Like `secondFactorRequired`, with the options to answer with a passkey of the account. */
export async function askSecondFactor(
  ctx: Context,
  account: Facts & Pick<Account, 'id'>,
  given: string | undefined,
  continuation?: string,
): Promise<Refusal> {
  if (!account.hasPasskey) return secondFactorRequired(account, { continuation });
  const bound = { purpose: 'secondFactor', accountId: account.id } as const;
  const { options, browser } = await askForPasskey(ctx, bound, given);
  return secondFactorRequired(account, { continuation, browser, passkeyOptions: options });
}

/**
 * Adds new passkey options to the refusal of a wrong answer, because each challenge works once. Any
 * other error stays unchanged.
 */
export async function askAgain(
  ctx: Context,
  account: Account,
  given: string | undefined,
  error: unknown,
): Promise<unknown> {
  const wrong = error instanceof Refusal && error.code === 'second_factor_invalid';
  if (!wrong || !account.hasPasskey) return error;
  const { extra, browser } = await askSecondFactor(ctx, account, given);
  const { code, message, hint } = error;
  return new Refusal(code, message, { extra, hint, browser });
}

interface Asking {
  /** A token for sending the second factor without repeating the first. */
  continuation?: string | undefined;
  browser?: string;
  passkeyOptions?: AssertionOptions;
}

/** The refusal that asks for the second factor. */
export function secondFactorRequired(
  account: Facts,
  { continuation, browser, passkeyOptions }: Asking = {},
): Refusal {
  const methods = factorsOf(account);
  const asked = methods.filter((method) => method !== 'recovery').join(' ');
  const { message, hint } = askingWords[asked] ?? askingWords.totp;
  const instead = methods.includes('recovery') ? [{ technical: sendRecoveryCode }] : [];
  return new Refusal('second_factor_required', message, {
    hint: [hint, ...instead],
    extra: { methods, ...(passkeyOptions === undefined ? {} : { passkeyOptions }) },
    reason: 'second_factor_required',
    continuation,
    browser,
  });
}

const sendRecoveryCode = 'You can also send an unused recovery code as `recoveryCode`.';

const askingWords: Record<string, { message: string; hint: Part }> & {
  totp: { message: string; hint: Part };
} = {
  totp: {
    message: 'A code from your authenticator is needed.',
    hint: { technical: 'Send the current six digits as `totpCode`.' },
  },
  passkey: {
    message: 'Your passkey is needed.',
    hint: {
      technical: 'Answer `passkeyOptions` with a passkey, and send the answer as `passkey`.',
    },
  },
  'totp passkey': {
    message: 'Enter a code from your authenticator app, or use your passkey.',
    hint: {
      technical:
        'Send the current six digits as `totpCode`, or the answer of a passkey as `passkey`.',
    },
  },
};
