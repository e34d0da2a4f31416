import { Refusal } from '../../../errors.ts';

/** The refusal that asks for a code; with the token `continuation`, the code can be sent alone. */
export function secondFactorRequired(continuation?: string): Refusal {
  return new Refusal('second_factor_required', 'A code of your authenticator is needed.', {
    hint: 'Send the current six digits as `totpCode`.',
    extra: { methods: ['totp'] },
    cause: { reason: 'second_factor_required' },
    ...(continuation === undefined ? {} : { continuation }),
  });
}

/** The refusal of a code that is wrong or was accepted before. */
export function secondFactorInvalid(): Refusal {
  return new Refusal('second_factor_invalid', 'This code is wrong or was used already.', {
    hint: 'Enter the next code that your authenticator shows. If that fails too, check the clock of its device.',
  });
}
