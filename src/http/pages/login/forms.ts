import {
  providerNames,
  socialProviders,
} from '../../../services/tenancy/identities/social-providers.ts';
import { type Html, html } from '../html.ts';
import type { Visit } from '../page.ts';
import { field, postForm } from '../parts.ts';
import { passkeyForm } from '../passkey-form.ts';
import { type LoginQuery, linkTo } from './query.ts';

type Draft = Pick<Visit, 'token' | 'given' | 'refusal'>;

/** The form that asks for the password of the account with this address. */
export function passwordForm(draft: Draft, email: string, place: LoginQuery): Html {
  const content = html`${knownAs(email)}
${field(draft, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', first: true })}
<button type="submit">Sign in</button>`;
  return postForm(draft, '/login/password', content, { returnTo: place.returnTo });
}

/** The directory whose password a form asks for. */
export interface Directory {
  /** The name of the organization, which its admins choose. */
  name: string;
  /** The verified domain of the typed address, if the organization owns it; else null. */
  domain: string | null;
}

/** The form that asks for the user name and password of a directory. */
export function directoryForm(
  draft: Draft,
  place: LoginQuery,
  { name, domain }: Directory,
  username: string | null,
): Html {
  // Any organization can choose any name, so the page also shows the verified domain.
  const owner = domain !== null && html`, which owns <strong class="address">${domain}</strong>`;
  const content = html`<p>Use your account at <strong class="address">${name}</strong>${owner}.</p>
${field(draft, {
  name: 'username',
  label: 'User name',
  autocomplete: 'username',
  value: username,
  note: 'The user name you sign in to your work computer with.',
  verbatim: true,
  first: username === null,
})}
${field(draft, {
  name: 'password',
  label: `Your ${name} password`,
  type: 'password',
  autocomplete: 'current-password',
  note: `Forgot your password? Ask the administrator of ${name}.`,
  first: username !== null,
})}
<button type="submit">Sign in</button>`;
  return postForm(draft, '/login/directory', content, { ...place });
}

/** The link that starts single sign-on at an organization's provider. */
export function ssoLink(domain: string, place: LoginQuery): Html {
  return html`<a class="button sso" href="${ssoStart(domain, place)}">Continue with single sign-on</a>`;
}

/** The address that starts single sign-on for a domain. */
export function ssoStart(domain: string, { returnTo }: LoginQuery): string {
  return linkTo('/auth/sso/start', { returnTo }, { domain });
}

/** The links to Google and GitHub. Omits a provider that `methods` does not contain. */
export function socialLinks(methods: readonly string[], { returnTo }: LoginQuery): Html[] {
  return socialProviders
    .filter((provider) => methods.includes(provider))
    .map(
      (provider) =>
        html`<a class="button plain" href="${linkTo(`/auth/social/${provider}/start`, { returnTo })}">Continue with ${providerNames[provider]}</a>`,
    );
}

/** The passkey form, which the script shows. With `autofill`, that field offers passkeys too. */
export function passkeySignIn(
  draft: Draft,
  { returnTo }: LoginQuery,
  { autofill, look }: { autofill?: string; look?: 'plain' },
): Html {
  const button = 'Sign in with a passkey';
  const of = { ask: '/api/v1/auth/passkey/options', button, alone: true } as const;
  const more = { ...(autofill && { autofill }), ...(look && { look }) };
  return passkeyForm(draft, '/login/passkey', { ...of, ...more }, { returnTo });
}

/** The button that requests a code by mail. It looks like a link unless it is `alone`. */
export function mailCodeForm(
  draft: Pick<Visit, 'token'>,
  email: string,
  { returnTo }: LoginQuery,
  alone: boolean,
): Html {
  const button = html`<button${!alone && html` class="link"`} type="submit">Send me a code by mail</button>`;
  return postForm(draft, '/login/mail-code', button, { email, returnTo });
}

/** A hidden field that tells password managers the account of the password. */
export function knownAs(email: string): Html {
  return html`<input class="unseen" type="email" name="email" value="${email}" autocomplete="username" readonly tabindex="-1" aria-label="E-mail address">`;
}
