import { z } from 'zod';
import { findOwner } from '../../../services/foundation/domain-names/owns.ts';
import { signInByLdap } from '../../../services/signin/flow.ts';
import { requireReturnTo } from '../../../services/signin/return-to.ts';
import { signInByLdapInput } from '../../../services/tenancy/ldap/schema.ts';
import { describeDirectory } from '../../../services/tenancy/signin-settings/methods.ts';
import { html } from '../html.ts';
import { otherLinks } from '../navigation.ts';
import { arrive, form, page, type ShownPage, type Visit } from '../page.ts';
import { alert } from '../parts.ts';
import { type Directory, directoryForm } from './forms.ts';
import { askWho, showMethods } from './methods.ts';
import { identify, type LoginQuery, linkTo, returnTo } from './query.ts';

/** Asks for user name and password if the only organization has a directory; else redirects. */
const askPage = page({
  path: '/login/directory',
  access: 'public',
  input: z.object({ returnTo }),
  show: async (visit, place) => {
    const directory = await describeDirectory(visit.ctx, '');
    return directory === null
      ? { goTo: linkTo('/login', place) }
      : askByName(visit, place, { ...directory, domain: null });
  },
});

/** Signs in through the directory of the typed domain, or of the only organization. */
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
  refused: async (visit) => {
    const { identifier, returnTo } = visit.given;
    if (identifier !== undefined) return showMethods(visit, { identifier, returnTo }, 'directory');
    const directory = await describeDirectory(visit.ctx, '');
    return directory === null
      ? askWho(visit, { returnTo })
      : askByName(visit, { returnTo }, { ...directory, domain: null });
  },
});

/** The page to sign in through a directory, and the handler of its form. */
export const directoryPages = [askPage, signInPage];

function askByName(visit: Visit, place: LoginQuery, whose: Directory): ShownPage {
  return {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
${alert(visit)}
${directoryForm(visit, place, whose, null)}
${otherLinks(html`<a href="${linkTo('/login', place)}">Sign in another way</a>`)}`,
  };
}

/** The organization of the typed domain. If the user name is an address, its domain decides. */
async function organizationOf(
  username: string,
  identifier: string | undefined,
): Promise<{ org?: string }> {
  const who = identifier === undefined || username.includes('@') ? null : identify(identifier);
  const org = who === null ? null : await findOwner(who.domain);
  return org === null ? {} : { org };
}
