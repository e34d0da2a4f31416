import { z } from 'zod';
import { lookAtSetupLink, openSetupLink } from '../../../services/tenancy/setup-links/open.ts';
import { partWords } from '../../../services/tenancy/setup-links/setup-link.ts';
import { setupCookie } from '../../cookies.ts';
import { html } from '../html.ts';
import { setupPath } from '../organization/sign-in/path.ts';
import { form, isSignedIn, type Page, page, type ShownPage, type Visit } from '../page.ts';
import { alert, postForm } from '../parts.ts';
import { viaRenewal } from '../renew.ts';

// The page at the URL of a setup link. It opens only this link, even if a person is signed in.

const path = `${setupPath}/:token`;
const { token } = openSetupLink.input.shape;

/** The page that says what a setup link opens, and the form that binds it to this browser. */
export const setupEntryPages: Page[] = [
  page({
    path,
    access: 'public',
    input: z.strictObject({ token, again: z.string().max(10).optional() }),
    show: (visit, given) => {
      // Only a person who is signed in can be told that they do not need the link.
      const mayBeSignedIn = visit.cookie('session_name') !== undefined && !isSignedIn(visit.ctx);
      if (mayBeSignedIn && given.again === undefined)
        return { goTo: viaRenewal(`${setupPath}/${encodeURIComponent(given.token)}`) };
      return showEntry(visit, given.token);
    },
  }),
  form({
    path,
    access: 'public',
    input: z.strictObject({ token }),
    act: async (visit, given) => {
      const { browser, seconds } = await openSetupLink(visit.ctx, given);
      return { goTo: setupPath, cookies: [setupCookie(browser, Math.floor(seconds))] };
    },
    refused: ({ refusal }) => {
      throw refusal;
    },
  }),
];

async function showEntry(visit: Visit, given: string): Promise<ShownPage | { goTo: string }> {
  const browser = visit.cookie('idctl-setup');
  const link = await lookAtSetupLink(visit.ctx, { token: given, browser });
  if (link.isHere) return { goTo: setupPath };
  if (!link.needed) return { goTo: `/orgs/${link.organizationId}/sign-in` };
  const { organization, parts } = link;
  return {
    title: `Set up sign-in for ${organization}`,
    main: html`<h1>Set up sign-in for ${organization}</h1>
${alert(visit)}
<p>With this link you set up, without an account:</p>
<ul>${parts.map((part) => html`<li>${partWords[part]}</li>`)}</ul>
<p>The link works in one browser. Once you start, it works only in this one.</p>
${postForm(visit, `${setupPath}/${given}`, html`<button type="submit">Start in this browser</button>`)}`,
  };
}
