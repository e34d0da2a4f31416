import { z } from 'zod';
import { email } from '../../../foundation/fields.ts';
import { givenPassword } from '../../../people/accounts/account.ts';
import { signedInView } from '../../../people/sessions/sign-in.ts';

const code = z
  .string()
  .max(20)
  .transform((text) => text.replace(/\s/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'must be the six digits of the mail'));
const totpCode = z.string().max(20).optional();

/** The address of the account that the code is for. */
export const requestCodeInput = z.strictObject({ email });
/** Confirms an address; the ticket or the password shows that this client signed up. */
export const verifyEmailInput = z.strictObject({
  email,
  code,
  password: givenPassword
    .optional()
    .describe(
      'The password chosen at the sign-up; without the cookie of the sign-up, only this keeps it.',
    ),
  ticket: z.string().max(4096).optional(),
});
/** The session of a confirmed address. */
export const verifiedView = signedInView.extend({
  passwordKept: z
    .boolean()
    .describe(
      'Whether the account has a password. If not, set one by `POST /api/v1/auth/password/reset`.',
    ),
});
export const signInByCodeInput = z.strictObject({ email, code, totpCode });
export const resetPasswordInput = z.strictObject({
  email,
  code,
  newPassword: givenPassword,
  totpCode,
});

/** The same answer for every caller and every address. */
export const requestedView = z.object({});
