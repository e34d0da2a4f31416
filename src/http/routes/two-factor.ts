import { signedInView } from '../../services/people/sessions/schema.ts';
import {
  confirmTotp,
  disableTotp,
  startTotp,
} from '../../services/people/two-factor/operations.ts';
import {
  regenerateRecoveryCodes,
  showRecoveryCodes,
} from '../../services/people/two-factor/recovery-codes.ts';
import { answerPendingSignIn, secondFactorInput } from '../../services/signin/pending.ts';
import { pendingCookie, sessionCookies } from '../cookies.ts';
import { route, routeTo } from '../route.ts';

/** The second factor: enrolling, turning off, answering in a sign-in by redirect (spec §3.4). */
export const twoFactorRoutes = [
  route('POST', '/api/v1/me/totp', startTotp, {
    summary: 'Begin to set up an authenticator app: a new secret, shown only once',
    status: 201,
    cli: 'totp enroll',
  }),
  route('POST', '/api/v1/me/totp/confirm', confirmTotp, {
    summary: 'Turn on the authenticator app with a current code',
    cli: 'totp confirm',
  }),
  route('POST', '/api/v1/me/totp/disable', disableTotp, {
    summary:
      'Turn off the authenticator app with a current code or a recovery code, and delete the secret',
    status: 204,
    dryRun: true,
    cli: 'totp disable',
  }),
  route('GET', '/api/v1/me/recovery-codes', showRecoveryCodes, {
    summary: 'How many recovery codes are left',
    cli: 'recovery-code status',
  }),
  route('POST', '/api/v1/me/recovery-codes', regenerateRecoveryCodes, {
    summary: 'Create ten new recovery codes, shown only once; needs a recent sign-in',
    status: 201,
    dryRun: true,
    cli: 'recovery-code regenerate',
  }),
  routeTo('public', 'POST', '/api/v1/auth/second-factor', {
    summary: 'Send the second factor of a sign-in that is waiting for it',
    input: secondFactorInput,
    output: signedInView,
    filled: { pending: { cookie: 'second_factor' }, browser: { cookie: 'passkey' } },
    cookies: (session) => [...sessionCookies(session), pendingCookie(null)],
    run: answerPendingSignIn,
  }),
];
