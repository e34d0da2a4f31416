import { z } from 'zod';
import { findOwner } from '../../../services/domains/owns.ts';
import { signInByLdapInput } from '../../../services/ldap/schema.ts';
import { signInByLdap } from '../../../services/ldap/sign-in.ts';
import { requireReturnTo } from '../../../services/return-to.ts';
import { html } from '../html.ts';
import { form, page, type Shown, type Visit } from '../page.ts';
import { alert } from '../parts.ts';
import { arrive } from './enter.ts';
import { directoryForm } from './forms.ts';
import { showMethods } from './methods.ts';
import { identify, linkTo, type Place, returnTo } from './place.ts';

/** Asks for name and password where one directory serves everybody. */
const askPage = page({
  path: '/login/directory',
  access: 'public',
  input: z.object({ returnTo }),
  show: (visit, place) => askByName(visit, place),
});

/** Signs in by the directory of the company whose domain was typed, or by the only one there is. */
const signInPage = form({
  path: '/login/directory',
  access: 'public',
  input: signInByLdapInput
    .pick({ username: true, password: true })
    .extend({ identifier: z.string().max(1000).optional(), returnTo }),
  act: async ({ ctx }, { identifier, returnTo, ...given }) => {
    const target = requireReturnTo(ctx, returnTo);
    const input = { ...given, ...(await organizationOf(given.username, identifier)) };
    return arrive(await signInByLdap(ctx, input, { returnTo: target }), target);
  },
  refused: (visit) => {
    const { identifier, returnTo } = visit.given;
    if (identifier === undefined) return askByName(visit, { returnTo });
    return showMethods(visit, { identifier, returnTo }, 'directory');
  },
});

/** The form and what it sends. */
export const directoryPages = [askPage, signInPage];

function askByName(visit: Visit, place: Place): Shown {
  return {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
${alert(visit)}
${directoryForm(visit, place, null)}
<nav class="below" aria-label="Other ways"><a href="${linkTo('/login', place)}">Sign in another way</a></nav>`,
  };
}

/** A name that is an address says itself which directory it belongs to. */
async function organizationOf(username: string, identifier: string | undefined): Promise<{ org?: string }> {
  const who = identifier === undefined || username.includes('@') ? null : identify(identifier);
  const org = who === null ? null : await findOwner(who.domain);
  return org === null ? {} : { org };
}
