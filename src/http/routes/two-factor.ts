import { signedInView } from '../../services/people/sessions/schema.ts';
import { confirmTotp } from '../../services/people/two-factor/confirm.ts';
import { disableTotp } from '../../services/people/two-factor/disable.ts';
import {
  ownConfirmTotpInput,
  ownDisableTotpInput,
  ownStartTotpInput,
  totpEnrolmentView,
  twoFactorView,
} from '../../services/people/two-factor/schema.ts';
import { startTotp } from '../../services/people/two-factor/start.ts';
import { answerPendingSignIn, secondFactorInput } from '../../services/signin/flow.ts';
import { pendingCookie, sessionCookies } from '../cookies.ts';
import { route } from '../route.ts';

/** The second factor: enrolling, turning it off, and answering it in a sign-in by redirect (spec §3.4). */
export const twoFactorRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/me/totp',
    summary: 'Begin an enrolment: a fresh secret, shown once',
    access: 'me.credentials',
    input: ownStartTotpInput,
    output: totpEnrolmentView,
    status: 201,
    cli: 'totp enroll',
    run: startTotp,
  }),
  route({
    method: 'POST',
    path: '/api/v1/me/totp/confirm',
    summary: 'Turn the second factor on by a current code',
    access: 'me.credentials',
    input: ownConfirmTotpInput,
    output: twoFactorView,
    cli: 'totp confirm',
    run: confirmTotp,
  }),
  route({
    method: 'POST',
    path: '/api/v1/me/totp/disable',
    summary: 'Turn the second factor off by a current code; the secret is discarded',
    access: 'me.credentials',
    input: ownDisableTotpInput,
    cli: 'totp disable',
    run: disableTotp,
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/second-factor',
    summary: 'Finish a sign-in by redirect with a code',
    access: 'public',
    input: secondFactorInput,
    output: signedInView,
    filled: { pending: { cookie: 'second_factor' } },
    cookies: (session) => [...sessionCookies(session), pendingCookie(null)],
    run: answerPendingSignIn,
  }),
];
