import { signedInView } from '../../services/people/sessions/schema.ts';
import { signInByCode } from '../../services/signin/flow.ts';
import {
  requestCodeInput,
  requestedView,
  requestMagicCode,
  requestPasswordReset,
  resendVerification,
  resetPassword,
  resetPasswordInput,
  signInByCodeInput,
  verifiedView,
  verifyEmail,
  verifyEmailInput,
} from '../../services/signin/methods/codes.ts';
import { sessionCookies } from '../cookies.ts';
import { routeTo } from '../route.ts';

/** Codes by mail: to confirm an address, to sign in, and to set a new password. */
export const mailCodeRoutes = [
  routeTo('public', 'POST', '/api/v1/auth/verify-email', {
    summary:
      'Confirm the address of a new account with the mailed code, and sign in. The password stays only if the client sends the cookie of the sign-up, or the password itself',
    input: verifyEmailInput,
    output: verifiedView,
    filled: { ticket: { cookie: 'sign_up' } },
    cookies: sessionCookies,
    run: verifyEmail,
  }),
  routeTo('public', 'POST', '/api/v1/auth/verify-email/resend', {
    summary: 'Mail a new code to confirm an address',
    input: requestCodeInput,
    output: requestedView,
    status: 202,
    run: resendVerification,
  }),
  routeTo('public', 'POST', '/api/v1/auth/magic-code', {
    summary: 'Mail a code for a sign-in',
    input: requestCodeInput,
    output: requestedView,
    status: 202,
    run: requestMagicCode,
  }),
  routeTo('public', 'POST', '/api/v1/auth/magic-code/verify', {
    summary: 'Sign in with the mailed code',
    input: signInByCodeInput,
    output: signedInView,
    filled: { browser: { cookie: 'passkey' } },
    cookies: sessionCookies,
    run: signInByCode,
  }),
  routeTo('public', 'POST', '/api/v1/auth/password/reset', {
    summary: 'Mail a code to set a new password',
    input: requestCodeInput,
    output: requestedView,
    status: 202,
    run: requestPasswordReset,
  }),
  routeTo('public', 'POST', '/api/v1/auth/password/reset/confirm', {
    summary: 'Set a new password with the mailed code, and end all sessions',
    input: resetPasswordInput,
    filled: { browser: { cookie: 'passkey' } },
    run: resetPassword,
  }),
];
