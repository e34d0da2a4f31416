import { z } from 'zod';
import { signUpInput } from '../../services/people/accounts/account.ts';
import { refreshSession, signOut } from '../../services/people/sessions/operations.ts';
import { resumeInput, signedInView, signedUpView } from '../../services/people/sessions/schema.ts';
import { signIn } from '../../services/signin/flow.ts';
import { signInInput } from '../../services/signin/methods/password.ts';
import { resumeOrReturn } from '../../services/signin/return-to.ts';
import { signUp } from '../../services/signin/sign-up/sign-up.ts';
import { clearedSession, sessionCookies, signUpCookie } from '../cookies.ts';
import { route, routeTo } from '../route.ts';

/** Signing in, staying signed in and signing out. */
export const authRoutes = [
  routeTo('public', 'POST', '/api/v1/auth/login', {
    summary: 'Sign in with e-mail address and password',
    input: signInInput,
    output: signedInView,
    filled: { browser: { cookie: 'passkey' } },
    cookies: sessionCookies,
    run: signIn,
  }),
  routeTo('public', 'POST', '/api/v1/auth/signup', {
    summary: 'Create your own account, if the instance allows sign-up',
    input: signUpInput,
    output: signedUpView,
    status: 201,
    cookies: (view) => ('accessToken' in view ? sessionCookies(view) : [signUpCookie(view.ticket)]),
    run: signUp,
  }),
  route('POST', '/api/v1/auth/refresh', refreshSession, {
    summary: 'Exchange the refresh token, from the cookie or the body, for a new pair',
    filled: { refreshToken: { cookie: 'refresh_token', orGiven: true } },
    cookies: sessionCookies,
  }),
  routeTo('public', 'GET', '/api/v1/auth/resume', {
    summary: 'Renew the session with the refresh cookie and redirect back',
    input: resumeInput,
    output: z.object({ returnTo: z.string() }),
    filled: { refreshToken: { cookie: 'refresh_token' } },
    cookies: (view) => ('accessToken' in view ? sessionCookies(view) : []),
    redirect: { to: (view) => view.returnTo, always: true },
    run: resumeOrReturn,
  }),
  route('POST', '/api/v1/auth/logout', signOut, {
    summary: 'End the session and clear its cookies',
    optionalActor: true,
    filled: { refreshToken: { cookie: 'refresh_token', orGiven: true } },
    cookies: clearedSession,
  }),
];
