import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { resetPassword } from '../../../services/codes/reset-password.ts';
import { resetPasswordInput, signInByCodeInput } from '../../../services/codes/schema.ts';
import { signInByCode } from '../../../services/codes/sign-in.ts';
import { signInByLdapInput } from '../../../services/ldap/schema.ts';
import { signInByLdap } from '../../../services/ldap/sign-in.ts';
import { answerPendingSignIn } from '../../../services/redirect/second-factor.ts';
import { signInInput } from '../../../services/sessions/schema.ts';
import { signIn } from '../../../services/sessions/sign-in.ts';
import { html } from '../html.ts';
import { form, page, type Reply, type Shown, type Visit } from '../page.ts';
import { alert, codeField, postForm } from '../parts.ts';
import { arrive, findWaiting, nothingWaiting } from './enter.ts';
import { askWho } from './who.ts';

/** Asks for the code of the authenticator that a sign-in lacks. */
const askPage = page({
  path: '/login/code',
  access: 'public',
  input: z.object({}),
  show: (visit) => (isWaiting(visit) ? askCode(visit) : { goTo: '/login' }),
});

/** Completes the sign-in that waits, whichever way it came. */
const answerPage = form({
  path: '/login/code',
  access: 'public',
  input: z.strictObject({
    totpCode: z
      .string()
      .max(20)
      .transform((text) => text.replace(/\s/g, '')),
  }),
  act: (visit, { totpCode }) => complete(visit, totpCode),
  refused: (visit) => (isOver(visit) ? askWho(visit, {}) : askCode(visit)),
});

/** The screen of the second factor, and what it sends. */
export const secondFactorPages = [askPage, answerPage];

async function complete({ ctx, cookie }: Visit, totpCode: string): Promise<Reply> {
  const waiting = findWaiting(ctx, cookie('sign_in'));
  if (waiting === null) {
    const session = await answerPendingSignIn(ctx, { totpCode, pending: cookie('second_factor') });
    return arrive(session, session.returnTo);
  }
  const { by, returnTo } = waiting;
  const input = { ...waiting.input, totpCode };
  if (by !== 'reset') return arrive(await begin[by](ctx, input), returnTo);
  await resetPassword(ctx, resetPasswordInput.parse(input));
  return { goTo: returnTo, cookies: [nothingWaiting] };
}

/** Everything is asked anew, now with the code. */
const begin = {
  password: (ctx: Context, input: object) => signIn(ctx, signInInput.parse(input)),
  directory: (ctx: Context, input: object) => signInByLdap(ctx, signInByLdapInput.parse(input)),
  mailCode: (ctx: Context, input: object) => signInByCode(ctx, signInByCodeInput.parse(input)),
};

function isWaiting({ ctx, cookie }: Visit): boolean {
  return findWaiting(ctx, cookie('sign_in')) !== null || cookie('second_factor') !== undefined;
}

/** Whether there is nothing left to add a code to. */
function isOver({ refusal }: Visit): boolean {
  return (
    refusal?.code === 'invalid_credential' ||
    refusal?.code === 'signin_failed' ||
    refusal?.code === 'code_invalid'
  );
}

function askCode(visit: Visit): Shown {
  return {
    title: 'Second factor',
    main: html`<h1>Second factor</h1>
<p>Enter the six digits that your authenticator app shows now.</p>
${alert(visit)}
${postForm(visit, '/login/code', html`${codeField(visit, 'totpCode')}<button type="submit">Sign in</button>`)}
<nav class="below" aria-label="Other ways"><a href="/login">Start again</a></nav>`,
  };
}
