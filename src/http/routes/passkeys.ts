import { signedInView } from '../../services/people/sessions/schema.ts';
import { confirmSession } from '../../services/signin/confirm.ts';
import { signInByPasskey } from '../../services/signin/flow.ts';
import { signInByPasskeyInput } from '../../services/signin/methods/passkey.ts';
import {
  listPasskeys,
  optionsToAdd,
  optionsToSignIn,
  registerPasskey,
  removePasskey,
  renamePasskey,
} from '../../services/signin/passkeys/operations.ts';
import { passkeyCookie, sessionCookies } from '../cookies.ts';
import { route, routeTo } from '../route.ts';

const filled = { browser: { cookie: 'passkey' } } as const;
const cookies = ({ browser }: { browser: string }) => [passkeyCookie(browser)];

/** Passkeys: adding, managing, and signing in with one. */
export const passkeyRoutes = [
  route('POST', '/api/v1/me/passkeys/options', optionsToAdd, {
    summary: 'Options for a new passkey, valid once, for five minutes, in this browser',
    filled,
    cookies,
  }),
  route('POST', '/api/v1/me/passkeys', registerPasskey, {
    summary: 'Add the passkey that the browser created; needs a recent sign-in',
    status: 201,
    filled,
  }),
  route('GET', '/api/v1/me/passkeys', listPasskeys, {
    summary: 'The passkeys of the signed-in person',
    cli: 'passkey list',
  }),
  route('PATCH', '/api/v1/me/passkeys/:id', renamePasskey, { summary: 'Rename a passkey' }),
  route('DELETE', '/api/v1/me/passkeys/:id', removePasskey, {
    summary: 'Remove a passkey; needs a recent sign-in and another way to sign in',
    status: 204,
    cli: 'passkey remove',
  }),
  route('POST', '/api/v1/auth/passkey/options', optionsToSignIn, {
    summary: 'Options to sign in with a passkey, valid once, for five minutes, in this browser',
    filled,
    cookies,
  }),
  routeTo('public', 'POST', '/api/v1/auth/passkey', {
    summary: 'Sign in with only a passkey, which counts as both factors',
    input: signInByPasskeyInput,
    output: signedInView,
    filled,
    cookies: sessionCookies,
    run: signInByPasskey,
  }),
  route('POST', '/api/v1/auth/confirm', confirmSession, {
    summary:
      'Confirm your session for operations that need a recent sign-in: with the second factor, or with the password if the account has none',
    status: 204,
    filled,
  }),
];
