import { providerNames, socialProviders } from '../../../services/social/providers.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../page.ts';
import { field, postForm } from '../parts.ts';
import { linkTo, type Place } from './place.ts';

type Draft = Pick<Visit, 'token' | 'given' | 'refusal'>;

/** The password of the account with this address. */
export function passwordForm(draft: Draft, email: string, place: Place): Html {
  const content = html`${knownAs(email)}
${field(draft, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', first: true })}
<button type="submit">Sign in</button>`;
  return postForm(draft, '/login/password', content, { returnTo: place.returnTo });
}

/** User name and password of a directory, and whose it is, which is said before a password is typed (security L1). */
export function directoryForm(draft: Draft, place: Place, whose: string, email: string | null): Html {
  const content = html`<p>Use your user name and password from the directory of <strong class="address">${whose}</strong>.</p>
${field(draft, {
  name: 'username',
  label: 'User name',
  autocomplete: 'username',
  value: email,
  note: 'The user name you sign in to your work computer with.',
  verbatim: true,
  first: email === null,
})}
${field(draft, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', first: email !== null })}
<button type="submit">Sign in</button>`;
  return postForm(draft, '/login/directory', content, { ...place });
}

/** The way to an organization's own provider. */
export function ssoLink(domain: string, place: Place): Html {
  return html`<a class="button sso" href="${ssoStart(domain, place)}">Continue with single sign-on</a>`;
}

/** Where single sign-on begins for a domain. */
export function ssoStart(domain: string, { returnTo }: Place): string {
  return linkTo('/auth/sso/start', { returnTo }, { domain });
}

/** The ways by the social providers that are offered. */
export function socialLinks(methods: readonly string[], { returnTo }: Place): Html[] {
  return socialProviders
    .filter((provider) => methods.includes(provider))
    .map(
      (provider) =>
        html`<a class="button plain" href="${linkTo(`/auth/social/${provider}/start`, { returnTo })}">Continue with ${providerNames[provider]}</a>`,
    );
}

/** Asks for a code by mail; `alone` where there is no other form. */
export function mailCodeForm(
  draft: Pick<Visit, 'token'>,
  email: string,
  { returnTo }: Place,
  alone: boolean,
): Html {
  const button = html`<button${!alone && html` class="link"`} type="submit">Send me a code by mail</button>`;
  return postForm(draft, '/login/mail-code', button, { email, returnTo });
}

/** For password managers, which otherwise see a password and not whose. */
export function knownAs(email: string): Html {
  return html`<input class="unseen" type="email" name="email" value="${email}" autocomplete="username" readonly tabindex="-1" aria-label="E-mail address">`;
}
