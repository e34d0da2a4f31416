import { findMethods } from '../../../services/signin/methods.ts';
import { selfSignupAllowed } from '../../../services/signin/require.ts';
import { html } from '../html.ts';
import type { Shown, Visit } from '../page.ts';
import { alert, field, hidden, notice } from '../parts.ts';
import { socialLinks } from './forms.ts';
import { linkTo, type Place } from './place.ts';

/** The first screen: an address or a company's domain, and the providers that anybody may come by. */
export async function askWho(
  visit: Pick<Visit, 'ctx' | 'given' | 'refusal'>,
  place: Place,
  said?: string,
): Promise<Shown> {
  const { returnTo } = place;
  const methods = await findMethods(visit.ctx, '');
  const social = socialLinks(methods, place);
  const below = [
    ...(methods.includes('ldap')
      ? [html`<a href="${linkTo('/login/directory', { returnTo })}">Sign in with a user name</a>`]
      : []),
    ...((await selfSignupAllowed(visit.ctx, ''))
      ? [html`<a href="${linkTo('/login/signup', { returnTo })}">Create an account</a>`]
      : []),
  ];
  return {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
${notice(said)}${alert(visit)}
<form method="get" action="/login">
${hidden({ returnTo })}
${field(visit, {
  name: 'identifier',
  label: 'E-mail address or company domain',
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
