import { z } from 'zod';
import { email, id, instant, userRef } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';
import { givenPassword, userView } from '../accounts/schema.ts';

export const signInInput = z.strictObject({
  email,
  password: givenPassword,
  totpCode: z.string().max(20).optional(),
});
const refreshToken = z.string().min(1).max(4096).optional();
export const refreshInput = z.strictObject({ refreshToken });
export const signOutInput = z.strictObject({ refreshToken });
export const resumeInput = z.strictObject({
  returnTo: z.string().max(2000).optional(),
  refreshToken,
});
export const listOwnSessionsInput = z.strictObject(pageInput);
export const listSessionsInput = listOwnSessionsInput.extend({ user: userRef });
export const revokeSessionInput = z.strictObject({ id });

/** What a sign-in answers, beside the two cookies; `expiresIn` is that of the access token, in seconds. */
export const signedInView = z.object({
  user: userView,
  accessToken: z.string(),
  refreshToken: z.string(),
  tokenType: z.literal('Bearer'),
  expiresIn: z.int(),
});

/** What signing up answers: a session at once, or that a code, which was mailed, has to confirm the address first. */
export const signedUpView = z.discriminatedUnion('emailVerification', [
  signedInView.extend({ emailVerification: z.literal('done') }),
  z.object({ emailVerification: z.literal('required') }),
]);

export const sessionView = z.object({
  id,
  method: z.string(),
  connection: z.string().optional(),
  createdAt: instant,
  lastSeenAt: instant,
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  current: z.boolean(),
});
export const sessionPage = pageOf(sessionView);
