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

/** Codes by mail: for confirming an address, for signing in and for a new password. */
export const mailCodeRoutes = [
  routeTo('public', 'POST', '/api/v1/auth/verify-email', {
    summary:
      'Confirm the address of a new account by the mailed code, and sign in. The password stays only for the client that sends the cookie of its sign-up, or the password itself',
    input: verifyEmailInput,
    output: verifiedView,
    filled: { ticket: { cookie: 'sign_up' } },
    cookies: sessionCookies,
    run: verifyEmail,
  }),
  routeTo('public', 'POST', '/api/v1/auth/verify-email/resend', {
    summary: 'Mail another code to confirm an address with',
    input: requestCodeInput,
    output: requestedView,
    status: 202,
    run: resendVerification,
  }),
  routeTo('public', 'POST', '/api/v1/auth/magic-code', {
    summary: 'Mail a code to sign in with',
    input: requestCodeInput,
    output: requestedView,
    status: 202,
    run: requestMagicCode,
  }),
  routeTo('public', 'POST', '/api/v1/auth/magic-code/verify', {
    summary: 'Sign in with the code that was mailed',
    input: signInByCodeInput,
    output: signedInView,
    filled: { browser: { cookie: 'passkey' } },
    cookies: sessionCookies,
    run: signInByCode,
  }),
  routeTo('public', 'POST', '/api/v1/auth/password/reset', {
    summary: 'Mail a code to choose a new password with',
    input: requestCodeInput,
    output: requestedView,
    status: 202,
    run: requestPasswordReset,
  }),
  routeTo('public', 'POST', '/api/v1/auth/password/reset/confirm', {
    summary: 'Choose a new password with the code that was mailed; ends all sessions',
    input: resetPasswordInput,
    filled: { browser: { cookie: 'passkey' } },
    run: resetPassword,
  }),
];
