import { z } from 'zod';
import { answerPendingSignIn } from '../../../services/signin/admit.ts';
import { html } from '../html.ts';
import { form, page, type ShownPage, type Visit } from '../page.ts';
import { alert, codeField, postForm } from '../parts.ts';
import { arrive } from './enter.ts';
import { askWho } from './who.ts';

/** Asks for the authenticator code that a sign-in still needs. */
const askPage = page({
  path: '/login/code',
  access: 'public',
  input: z.object({}),
  show: (visit) =>
    visit.cookie('second_factor') === undefined ? { goTo: '/login' } : askCode(visit),
});

/** Completes the pending sign-in, whichever method began it. */
const answerPage = form({
  path: '/login/code',
  access: 'public',
  input: z.strictObject({
    totpCode: z
      .string()
      .max(20)
      .transform((text) => text.replace(/\s/g, '')),
  }),
  act: async ({ ctx, cookie }, { totpCode }) => {
    const session = await answerPendingSignIn(ctx, { totpCode, pending: cookie('second_factor') });
    return arrive(session, session.returnTo);
  },
  refused: (visit) => (isOver(visit) ? askWho(visit, {}) : askCode(visit)),
});

/** The screen of the second factor, and its form. */
export const secondFactorPages = [askPage, answerPage];

/** Whether the pending sign-in is over, so a code cannot complete it. */
function isOver({ refusal }: Visit): boolean {
  return refusal?.code === 'invalid_credential' || refusal?.code === 'signin_failed';
}

function askCode(visit: Visit): ShownPage {
  return {
    title: 'Second factor',
    main: html`<h1>Second factor</h1>
<p>Enter the six digits that your authenticator app shows now.</p>
${alert(visit)}
${postForm(visit, '/login/code', html`${codeField(visit, 'totpCode')}<button type="submit">Sign in</button>`)}
<nav class="below" aria-label="Other ways"><a href="/login">Start again</a></nav>`,
  };
}
