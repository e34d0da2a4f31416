import { z } from 'zod';
import { email } from '../../foundation/fields.ts';
import { givenPassword, userView } from '../accounts/schema.ts';

export const signInInput = z.strictObject({
  email,
  password: givenPassword,
  totpCode: z.string().max(20).optional(),
});

/** A refresh token as the caller gives it, in the body or the cookie. */
export const givenRefreshToken = z.string().min(1).max(4096).optional();

export const resumeInput = z.strictObject({
  returnTo: z.string().max(2000).optional(),
  refreshToken: givenRefreshToken,
});

/**
 * The answer to a sign-in, beside the two cookies; `expiresIn` is that of the access token, in
 * seconds.
 */
export const signedInView = z.object({
  user: userView,
  accessToken: z.string(),
  refreshToken: z.string(),
  tokenType: z.literal('Bearer'),
  expiresIn: z.int(),
});

/**
 * The answer to a sign-up: a session at once, or that a mailed code must confirm the address first.
 */
export const signedUpView = z.discriminatedUnion('emailVerification', [
  signedInView.extend({ emailVerification: z.literal('done') }),
  z.object({ emailVerification: z.literal('required') }),
]);
