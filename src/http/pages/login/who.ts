import { findMethods } from '../../../services/tenancy/signin-settings/methods.ts';
import { selfSignupAllowed } from '../../../services/tenancy/signin-settings/require.ts';
import { html } from '../html.ts';
import type { ShownPage, Visit } from '../page.ts';
import { alert, field, hidden, notice } from '../parts.ts';
import { socialLinks } from './forms.ts';
import { type LoginPlace, linkTo } from './place.ts';

/**
 * The first screen asks for an address, a user name or a company's domain. It also offers the
 * providers that accept every address.
 */
export async function askWho(
  visit: Pick<Visit, 'ctx' | 'given' | 'refusal'>,
  place: LoginPlace,
  said?: string,
): Promise<ShownPage> {
  const { returnTo } = place;
  const methods = await findMethods(visit.ctx, '');
  const social = socialLinks(methods, place);
  const below = (await selfSignupAllowed(visit.ctx, ''))
    ? [html`<a href="${linkTo('/login/signup', { returnTo })}">Create an account</a>`]
    : [];
  return {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
${notice(said)}${alert(visit)}
<form method="get" action="/login">
${hidden({ returnTo })}
${field(visit, {
  name: 'identifier',
  // A user name without an address works only with a single directory (security L1).
  label: methods.includes('ldap')
    ? 'E-mail address or user name'
    : 'E-mail address or company domain',
  autocomplete: 'username',
  value: place.identifier,
  verbatim: true,
  first: true,
})}
<button type="submit">Continue</button>
</form>
${social.length > 0 && html`<p class="or"><span>or</span></p>${social}`}
${below.length > 0 && html`<nav class="below" aria-label="Other ways">${below}</nav>`}`,
  };
}
