import { z } from 'zod';
import { givenPassword } from '../accounts/schema.ts';
import { email } from '../fields.ts';

const code = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'must be the six digits of the mail'));
const totpCode = z.string().max(20).optional();

/** Whose code is asked for. */
export const requestCodeInput = z.strictObject({ email });
/** With what tells the client that signed up, if it has kept it. */
export const verifyEmailInput = z.strictObject({ email, code, ticket: z.string().max(4096).optional() });
export const signInByCodeInput = z.strictObject({ email, code, totpCode });
export const resetPasswordInput = z.strictObject({ email, code, newPassword: givenPassword, totpCode });

/** The same whoever asks, and for whom. */
export const requestedView = z.object({});
