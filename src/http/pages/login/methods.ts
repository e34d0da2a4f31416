import { Refusal, refuseField } from '../../../errors.ts';
import { isMailConfigured } from '../../../services/foundation/mail/configured.ts';
import {
  describeDirectory,
  findMethods,
  selfSignupAllowed,
} from '../../../services/tenancy/signin-settings/methods.ts';
import { type Html, html } from '../html.ts';
import { otherLinks } from '../navigation.ts';
import type { ShownPage, Visit } from '../page.ts';
import { alert, field, hidden, notice } from '../parts.ts';
import {
  directoryForm,
  mailCodeForm,
  passkeySignIn,
  passwordForm,
  socialLinks,
  ssoLink,
  ssoStart,
} from './forms.ts';
import { identify, type LoginQuery, linkTo } from './query.ts';

/** The first screen: asks for the identifier, and offers passkeys, Google and GitHub. */
export async function askWho(
  visit: Pick<Visit, 'ctx' | 'given' | 'refusal'> & Partial<Pick<Visit, 'token'>>,
  place: LoginQuery,
  said?: string,
): Promise<ShownPage> {
  const { returnTo } = place;
  const methods = await findMethods(visit.ctx, '');
  const social = socialLinks(methods, place);
  const below = (await selfSignupAllowed(visit.ctx, ''))
    ? [html`<a href="${linkTo('/login/signup', { returnTo })}">Create an account</a>`]
    : [];
  const { token } = visit;
  // An error page has no form token, so it cannot show a form that posts.
  const passkey = methods.includes('passkey') && token !== undefined;
  return {
    title: 'Sign in',
    script: passkey || undefined,
    main: html`<h1>Sign in</h1>
${notice(said)}${alert(visit)}
<form method="get" action="/login">
${hidden({ returnTo })}
${field(visit, {
  name: 'identifier',
  // A bare user name works only if the instance has exactly one organization (security L1).
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
${passkey && passkeySignIn({ ...visit, token }, place, { ...autofillAt(visit, '#identifier'), look: 'plain' })}
${social.length > 0 && html`<p class="or"><span>or</span></p>${social}`}
${below.length > 0 && otherLinks(...below)}`,
  };
}

/**
 * Lets the browser offer passkeys in a field. After a refusal it does not, because it would offer
 * the refused passkey again.
 */
function autofillAt({ refusal }: Pick<Visit, 'refusal'>, autofill: string) {
  return refusal === undefined ? { autofill } : {};
}

/** The forms that ask for a password. A page shows only one of them. */
export type LoginQuestion = 'password' | 'directory';

interface Known extends LoginQuery {
  identifier: string;
}

/** The ways to sign in with an address. A bare domain leads to its provider (spec §5.4). */
export async function showMethods(
  visit: Visit,
  place: Known,
  asked?: LoginQuestion,
  said?: string,
): Promise<ShownPage> {
  const { email, domain } = identify(place.identifier) ?? { email: null, domain: '' };
  const methods = await findMethods(visit.ctx, domain);
  const directory = await describeDirectory(visit.ctx, domain);
  if (domain === '' && directory === null)
    return askWho({ ...visit, refusal: visit.refusal ?? unreadable() }, place);
  const onlySso = email === null && directory === null;
  if (onlySso && !methods.includes('sso'))
    return askWho({ ...visit, refusal: visit.refusal ?? noSso(domain) }, place);
  const shown = formShown(email, { methods, directory, asked });
  const ways = [
    methods.includes('sso') ? [ssoLink(domain, place)] : [],
    shown === 'password' ? [passwordForm(visit, email ?? '', place)] : [],
    shown === 'directory' && directory !== null
      ? [
          directoryForm(
            visit,
            place,
            { name: directory.name, domain: directory.verified ? domain : null },
            userNameIn(place.identifier, { email, directory, methods }),
          ),
        ]
      : [],
    email !== null && shown === null && methods.includes('magicCode')
      ? [mailCodeForm(visit, email, place, true)]
      : [],
    email === null ? [] : socialLinks(methods, place),
  ].filter((way) => way.length > 0);
  const passkey = email !== null && methods.includes('passkey');
  const others = await otherWays(visit, place, { email, domain, methods, shown });
  return {
    title: 'Sign in',
    script: passkey || undefined,
    handOff: onlySso && visit.refusal === undefined ? ssoStart(domain, place) : undefined,
    main: html`<h1>Sign in</h1>
<p class="who"><span>${place.identifier}</span> <a href="${linkTo('/login', { returnTo: place.returnTo })}">Change</a></p>
${notice(said)}${alert(visit)}
${ways.length + others.length === 0 && !passkey && html`<p>There is no way to sign in with this address. Ask your administrator.</p>`}
${ways.map((way, at) => html`${at > 0 && or}${way}`)}
${passkey && passkeySignIn(visit, place, { ...autofillAt(visit, '#password'), ...(ways.length > 0 && { look: 'plain' }) })}
${others.length > 0 && otherLinks(...others)}`,
  };
}

const or = html`<p class="or"><span>or</span></p>`;

/**
 * Chooses the form that asks for a password: the requested one if possible, else the directory's,
 * else the account's. For an address on an unverified domain, the directory's form appears only on
 * request (security L1).
 */
function formShown(
  email: string | null,
  { methods, directory, asked }: Asking,
): LoginQuestion | null {
  const mayLead =
    directory !== null && (directory.verified || email === null || asked === 'directory');
  if (mayLead && asked !== 'password') return 'directory';
  if (email !== null && methods.includes('password')) return 'password';
  return mayLead ? 'directory' : null;
}

/**
 * The user name in the typed text: the part before `@` on the directory's own domain. A text that
 * is neither an address nor a known domain is itself the user name.
 */
function userNameIn(
  identifier: string,
  { email, directory, methods }: { email: string | null } & Pick<Asking, 'directory' | 'methods'>,
): string | null {
  if (email !== null) return directory?.verified ? email.slice(0, email.indexOf('@')) : null;
  return directory?.verified || methods.includes('sso') ? null : identifier.trim();
}

interface Asking {
  methods: readonly string[];
  directory: { verified: boolean } | null;
  asked: LoginQuestion | undefined;
}

interface Offer {
  email: string | null;
  domain: string;
  methods: readonly string[];
  shown: LoginQuestion | null;
}

async function otherWays(
  { ctx, token, refusal }: Visit,
  place: Known,
  { email, domain, methods, shown }: Offer,
): Promise<Html[]> {
  const password = email !== null && methods.includes('password');
  const links = [
    password &&
      shown !== 'password' &&
      html`<a href="${linkTo('/login', place, { by: 'password' })}">Use your ${ctx.config.instance.name} password instead</a>`,
    methods.includes('ldap') &&
      shown !== 'directory' &&
      html`<a href="${linkTo('/login', place, { by: 'directory' })}">Use a user name instead</a>`,
    email !== null &&
      shown !== null &&
      methods.includes('magicCode') &&
      mailCodeForm({ token }, email, place, false),
    // idctl cannot change a directory's password.
    password &&
      shown !== 'directory' &&
      isMailConfigured(ctx) &&
      html`<a href="${linkTo('/login/reset', place)}">Forgot password?</a>`,
    // Shown for every address, so that the page does not reveal pending sign-ups (security P7).
    password &&
      shown !== 'directory' &&
      refusal?.code === 'signin_failed' &&
      isMailConfigured(ctx) &&
      html`<a href="${linkTo('/login/verify', place)}">Confirm your address</a>`,
    email !== null &&
      (await selfSignupAllowed(ctx, domain)) &&
      html`<a href="${linkTo('/login/signup', place)}">Create an account</a>`,
  ];
  return links.filter((link) => link !== false);
}

function unreadable(): Refusal {
  return refuseField('identifier', 'must be an e-mail address, or a domain such as example.com');
}

function noSso(domain: string): Refusal {
  return new Refusal('sso_not_configured', `No single sign-on is set up for ${domain}.`, {
    hint: 'To see other ways to sign in, enter your e-mail address.',
  });
}
