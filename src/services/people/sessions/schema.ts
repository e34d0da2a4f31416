import { z } from 'zod';
import { Refusal } from '../../../errors.ts';
import type { Reason } from '../../../reasons.ts';
import { instant } from '../../foundation/fields.ts';
import { userView } from '../accounts/account.ts';

/** A refresh token as the caller gives it, in the body or the cookie. */
export const givenRefreshToken = z.string().min(1).max(4096).optional();

export const resumeInput = z.strictObject({
  // An authorization request of an application can be long.
  returnTo: z.string().max(8000).optional(),
  refreshToken: givenRefreshToken,
});

/** The answer to a sign-in, besides two cookies. The session token lasts `expiresIn` seconds. */
export const signedInView = z.object({
  user: userView,
  accessToken: z.string(),
  refreshToken: z.string(),
  tokenType: z.literal('Bearer'),
  expiresIn: z.int(),
});

/** The answer to a sign-up: a session, or a request for the mailed code of the address. */
export const signedUpView = z.discriminatedUnion('emailVerification', [
  signedInView.extend({ emailVerification: z.literal('done') }),
  z.object({ emailVerification: z.literal('required') }),
]);

export const openLoginLinkInput = z.strictObject({ token: z.string().min(1).max(200) });
export const loginLinkView = z.object({ url: z.string(), expiresAt: instant });

/** The answer to every failed sign-in (security P7). Only the log and the event get the reason. */
export function signInFailed(reason: Reason, cause?: Refusal): Refusal {
  return new Refusal('signin_failed', 'You could not be signed in.', {
    hint: 'Try again. If it happens again, give your administrator the reference.',
    reason,
    failure: cause?.failure,
    cause,
  });
}

const wrongEntries = {
  password: {
    message: 'Wrong e-mail or password.',
    // Pages show a link in place of this hint.
    hint: {
      technical:
        'If you have just signed up, verify your address first: POST /api/v1/auth/verify-email.',
    },
  },
  ldap: {
    message: 'Wrong user name or password.',
    hint: 'If both are right, ask your administrator.',
  },
} as const;

/** Rewords the refusal for the fields entered, the same for every reason (security P7, L7). */
export function inWordsOf(method: keyof typeof wrongEntries, error: unknown): unknown {
  if (!(error instanceof Refusal) || error.code !== 'signin_failed') return error;
  const { message, hint } = wrongEntries[method];
  const { reason, failure, cause } = error;
  return new Refusal('signin_failed', message, { hint, reason, failure, cause });
}

/**
 * The refusal of a person who has proved that the account is theirs, but not the address
 * (security P11). A password is not enough proof: strangers can sign up with any address, and get
 * `signInFailed`.
 */
export function emailUnverified(): Refusal {
  return new Refusal('email_unverified', 'Your e-mail address is not confirmed yet.', {
    hint: 'Enter the code from the mail, or request a new one.',
  });
}
