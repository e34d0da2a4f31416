import { z } from 'zod';
import { issueTicket } from '../../../services/tenancy/clients/forward.ts';
import { html } from '../html.ts';
import { isSignedIn, page } from '../page.ts';
import { viaRenewal } from '../renew.ts';

const path = '/login/forward';

/** Redirects a signed-in person to a protected host, with a ticket. Other people sign in first. */
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
    restarted: z.string().max(10).optional(),
    again: z.string().max(10).optional(),
  }),
  show: async (visit, { again, restarted, ...going }) => {
    if (!isSignedIn(visit.ctx)) {
      const begun = { ...going, ...(restarted !== undefined && { restarted }) };
      return { goTo: signInFor(begun, again !== undefined) };
    }
    const goTo = await issueTicket(visit.ctx, { ...going, restarted: restarted !== undefined });
    if (again === undefined) return { goTo };
    // After a sign-in form, Chromium would block a redirect to another host (`form-action`).
    return {
      title: 'Signed in',
      main: html`<h1>You are signed in</h1>
<p><a class="button" href="${goTo}">Continue</a></p>`,
      handOff: goTo,
    };
  },
});

/** The address that renews the session. After one attempt, the address of the sign-in page. */
function signInFor(going: Record<string, string>, isTried: boolean): string {
  if (!isTried) return viaRenewal(path, going);
  const returnTo = `${path}?${new URLSearchParams({ ...going, again: '1' })}`;
  return `/login?${new URLSearchParams({ returnTo })}`;
}
