import { Refusal } from '../../../errors.ts';

/** The refusal that asks for a code; `accountId` is for the sign-in that goes on from here, and for nobody outside. */
export function secondFactorRequired(accountId: string, continuation?: string): Refusal {
  return new Refusal('second_factor_required', 'A code of your authenticator is needed.', {
    hint: 'Send the current six digits as `totpCode`.',
    extra: { methods: ['totp'] },
    cause: { reason: 'second_factor_required', accountId },
    ...(continuation === undefined ? {} : { continuation }),
  });
}

/** The account whose second factor a refusal asks for; null for every other error. */
export function accountAsked(error: unknown): string | null {
  if (!(error instanceof Refusal) || error.code !== 'second_factor_required') return null;
  const { cause } = error;
  const known = typeof cause === 'object' && cause !== null && 'accountId' in cause;
  return known && typeof cause.accountId === 'string' ? cause.accountId : null;
}

/** The refusal of a wrong code, or of one that was accepted before. */
export function secondFactorInvalid(): Refusal {
  return new Refusal('second_factor_invalid', 'This code is wrong or was used already.', {
    hint: 'Enter the next code that your authenticator shows. If that fails too, check the clock of its device.',
  });
}
