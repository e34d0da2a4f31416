import { z } from 'zod';
import { issueTicket } from '../../../services/tenancy/clients/forward.ts';
import { html } from '../html.ts';
import { isSignedIn, page } from '../page.ts';
import { viaRenewal } from '../renew.ts';

const path = '/login/forward';

/** Sends a person who is signed in to a protected host, with a ticket. Others sign in first. */
export const forwardPage = page({
  path,
  access: 'public',
  input: z.object({
    origin: z.url().max(300),
    browser: z.string().regex(/^[\w-]{43}$/),
    to: z
      .string()
      .max(1000)
      .regex(/^\/(?![/\\])/)
      .default('/'),
    again: z.string().max(10).optional(),
  }),
  show: async (visit, { again, ...going }) => {
    if (!isSignedIn(visit.ctx)) return { goTo: signInFor(going, again !== undefined) };
    const goTo = await issueTicket(visit.ctx, going);
    if (again === undefined) return { goTo };
    // Perhaps after a form, and Chromium applies `form-action` to the redirects that follow one.
    return {
      title: 'Signed in',
      main: html`<h1>You are signed in</h1>
<p><a class="button" href="${goTo}">Continue</a></p>`,
      handOff: goTo,
    };
  },
});

/** The session may only need a renewal; if that gave none, the sign-in page asks. */
function signInFor(going: Record<string, string>, isTried: boolean): string {
  if (!isTried) return viaRenewal(path, going);
  const returnTo = `${path}?${new URLSearchParams({ ...going, again: '1' })}`;
  return `/login?${new URLSearchParams({ returnTo })}`;
}
