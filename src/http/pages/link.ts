import { z } from 'zod';
import { openLoginLink } from '../../services/signin/flow.ts';
import { lookAtLoginLink } from '../../services/signin/methods/link.ts';
import { openLoginLinkInput } from '../../services/tenancy/signin-settings/schema.ts';
import { html } from './html.ts';
import { arrive } from './login/enter.ts';
import { askWho } from './login/who.ts';
import { form, page, type ShownPage, type Visit } from './page.ts';
import { postForm } from './parts.ts';

// Mail scanners and previews open every link they see. So only the button spends the link.

const path = '/login/link';

const lookPage = page({
  path,
  access: 'public',
  input: openLoginLinkInput,
  show: (visit, { token }) => askToEnter(visit, token),
});

const enterPage = form({
  path,
  access: 'public',
  // `token` is already the name of the form token.
  input: z.strictObject({ link: openLoginLinkInput.shape.token }),
  act: async ({ ctx }, { link }) => {
    const session = await openLoginLink(ctx, { token: link });
    return arrive(session, session.returnTo);
  },
  refused: (visit) => askWho(visit, {}),
});

/** The operator's one-time link: the account that it signs in, and the button. */
export const linkPages = [lookPage, enterPage];

async function askToEnter(visit: Visit, link: string): Promise<ShownPage> {
  const { email, name } = await lookAtLoginLink(visit.ctx, { token: link });
  return {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
<p>This link signs you in once, as <strong class="address">${email ?? name}</strong></p>
${postForm(visit, path, html`<button type="submit">Sign in</button>`, { link })}`,
  };
}
