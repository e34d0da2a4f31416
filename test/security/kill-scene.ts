import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { generateSync } from 'otplib';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { registerApp } from '../../src/services/people/apps/operations.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { createSetupLink } from '../../src/services/tenancy/setup-links/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { password } from '../support/builders.ts';
import { copyOfDatabase, migratedDatabaseUrl } from '../support/database.ts';
import type { Answer, Client } from '../support/http.ts';
import type { Place } from '../support/idctl.ts';
import { settingsFor, signInByLdap } from '../support/ldap.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { addPasskey, passkeySite as baseUrl, signInByPasskey } from '../support/passkeys.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Slapd, startSlapd, suffix } from '../support/slapd.ts';
import { withGoogle } from '../support/social.ts';
import { connected, registration, signInAt } from '../support/sso.ts';
import { playClient } from './kill-client.ts';
import { playApplication } from './kill-provider.ts';

// Ada's account has every kind of credential. Every test reopens its instance in the same state.

const google = { clientId: 'idctl', clientSecret: 'a secret of the provider' };

/** The scopes of Ada's tokens. */
export const scopes = ['read', 'write', 'admin'] as const;

/** The methods that Ada signed in with. */
export const methods = [
  'password',
  'mailed code',
  'SSO',
  'LDAP',
  'Google',
  'login link',
  'passkey',
] as const;

/** The counterparts of the instance, and its database. */
export interface World {
  provider: OpenIdProvider;
  google: OpenIdProvider;
  slapd: Slapd;
  receiver: Receiver;
  /** Opens an instance at the scene's time, on a copy of the scene or on the database at `url`. */
  reopen(url?: string): Promise<MailingIdctl>;
  /** The scene's database and key file. No instance has them open. */
  place: Place;
  stop(): Promise<void>;
}

/** Ada, her organization, and her credentials as she received them. */
export type Scene = Awaited<ReturnType<typeof play>>;

/** Starts the counterparts, plays the scene once, and closes its instance. */
export async function prepare(): Promise<{ world: World; scene: Scene }> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-kill-'));
  const place = { url: await migratedDatabaseUrl(), keyFile: join(folder, 'master.key') };
  await createKeyFile(place.keyFile);
  const at = async (path: string, client: { clientId: string; clientSecret: string }) =>
    startOpenIdProvider({
      clients: [
        {
          client_id: client.clientId,
          client_secret: client.clientSecret,
          redirect_uris: [`${baseUrl}${path}`],
        },
      ],
    });
  const counterparts = {
    provider: await at('/auth/sso/callback', registration),
    google: await at('/auth/social/google/callback', google),
    slapd: await startSlapd(),
    receiver: await startReceiver(),
  };
  const settings = {
    baseUrl,
    social: { google: { ...google, issuer: counterparts.google.issuer } },
    outbound: { allow: ['127.0.0.1'] },
    signin: { magicCode: 'on' },
    signup: { open: 'on' },
    limits: { enabled: 'off' },
  };
  const idctl = await openMailingIdctl(settings, place);
  const scene = await play(idctl, counterparts);
  const leftAt = idctl.app.clock();
  await idctl.close();
  await forgetAddress(counterparts, scene);
  const reopen = async (url?: string) => {
    const opened = await openMailingIdctl(settings, {
      ...place,
      url: url ?? (await copyOfDatabase(place.url)),
    });
    // Go back to the scene's time, so that nothing expires while the tests run.
    opened.wait((leftAt.getTime() - Date.now()) / 1000);
    return opened;
  };
  const stop = async () => {
    const { provider, google, slapd, receiver } = counterparts;
    await Promise.all([provider.stop(), google.stop(), slapd.stop(), receiver.stop()]);
    await rm(folder, { recursive: true, force: true });
  };
  return { world: { ...counterparts, reopen, place, stop }, scene };
}

type Counterparts = Pick<World, 'provider' | 'google' | 'slapd' | 'receiver'>;

async function play(idctl: MailingIdctl, counterparts: Counterparts) {
  const operator = idctl.operator();
  const { org, domain } = await connected(idctl, counterparts.provider.issuer);
  const ada = await arrive(idctl, counterparts, { org: org.slug, domain });
  const user = ada.id;
  const before = await signInEveryWay(idctl, counterparts, { ...ada, org: org.slug, domain });
  const passkey = await getPasskey(idctl, before.own);
  const sessions = { ...before, passkey: passkey.session };
  const totp = await enrol(idctl, sessions.passkey);
  const app = await registerApp(operator, { user, name: 'builder' });
  const form = { client_id: app.clientId, client_secret: app.clientSecret };
  const invite = { email: 'ina@elsewhere.test', role: 'member' };
  const by = { authorization: `Bearer ${sessions.own}` };
  const invitation = await idctl.client().post(`/api/v1/orgs/${org.slug}/invitations`, invite, by);
  const client = await playClient(idctl, {
    org: org.slug,
    domain,
    own: sessions.own,
    byPassword: sessions.password,
  });
  const webhook = addWebhook.input.parse({ org: org.slug, url: counterparts.receiver.url });
  return {
    org,
    domain,
    ada,
    sessions,
    totp,
    passkey,
    recoveryCode: passkey.recoveryCode,
    tokens: await tokensOf(idctl, user),
    app: { id: app.id, form },
    bot: expected(await mint(idctl, form)).access_token as string,
    codes: {
      signin: await mailedCode(idctl, 'magic-code', ada.email),
      reset: await mailedCode(idctl, 'password/reset', ada.email),
    },
    nora: await signUp(idctl, 'nora@elsewhere.test'),
    link: pathOf((await createLoginLink(operator, { user })).url),
    invitation: { ...invite, ...(expected(invitation) as { id: string; token: string }) },
    scim: (await rotateScimToken(operator, { org: org.slug })).token,
    webhook: await addWebhook(operator, webhook),
    setupLink: await openSetupLink(idctl, org.slug),
    pending: await waiting(idctl, counterparts),
    client,
    application: await playApplication(idctl, client, sessions.password),
  };
}

/** A setup link of the organization, and the cookies of the browser that opened it. */
async function openSetupLink(idctl: MailingIdctl, org: string) {
  const input = createSetupLink.input.parse({ org, for: ['domain'] });
  const { id, url } = await createSetupLink(idctl.operator(), input);
  const browser = idctl.client({ keepCookies: true });
  const { pathname } = new URL(url);
  const page = await (await open(browser, pathname)).submit(pathname);
  if (page.status !== 200) throw new Error(`the setup link was answered ${page.status}`);
  return { id, cookies: Object.fromEntries(browser.jar) };
}

/** Ada's first SSO sign-in creates her account. Then she gets a password and the role admin. */
async function arrive(
  idctl: MailingIdctl,
  { provider, google, slapd }: Counterparts,
  { org, domain }: { org: string; domain: string },
) {
  const email = `ada@${domain}`;
  provider.people.set('ada', { email, email_verified: true, name: 'Ada Byron' });
  google.people.set('ada', { email, email_verified: true, hd: domain, name: 'Ada Byron' });
  await slapd.person('ada', { mail: email });
  const settings = { org, enabled: true, ...settingsFor(slapd) };
  await saveLdap(idctl.operator(), saveLdapInput.parse(settings));
  const { id } = expected((await signInAt(idctl, provider, domain, 'ada')).answer).user;
  await setUserPassword(idctl.operator(), { user: id, password });
  await changeMemberRole(idctl.operator(), { org, user: id, role: 'admin' });
  return { id: String(id), email };
}

/** Ada's access tokens by method. `own` is for the session in which she acts herself. */
async function signInEveryWay(
  idctl: MailingIdctl,
  counterparts: Counterparts,
  { id, email, org, domain }: { id: string; email: string; org: string; domain: string },
) {
  const login = async () => idctl.client().post('/api/v1/auth/login', { email, password });
  const code = await mailedCode(idctl, 'magic-code', email);
  const link = pathOf((await createLoginLink(idctl.operator(), { user: id })).url);
  const browser = idctl.client({ keepCookies: true });
  await (await open(browser, link)).submit('/login/link');
  const byPassword = expected(await login());
  const answers = {
    'mailed code': await idctl.client().post('/api/v1/auth/magic-code/verify', { email, code }),
    SSO: (await signInAt(idctl, counterparts.provider, domain, 'ada')).answer,
    LDAP: await signInByLdap(idctl, { username: 'ada', org }),
    Google: (await withGoogle({ idctl, google: counterparts.google }, 'ada')).answer,
    own: await login(),
  };
  const tokens = Object.entries(answers).map(([method, answer]) => [
    method,
    expected(answer).accessToken,
  ]);
  return {
    ...(Object.fromEntries(tokens) as Record<keyof typeof answers, string>),
    password: String(byPassword.accessToken),
    refresh: String(byPassword.refreshToken),
    'login link': browser.jar.get('access_token') ?? '',
  };
}

/** Adds a passkey in a session, and signs in with it. */
async function getPasskey(idctl: MailingIdctl, by: string) {
  const browser = idctl.client({ keepCookies: true });
  browser.jar.set('access_token', by);
  const { answer, held } = await addPasskey(browser);
  const { id, recoveryCodes } = expected(answer);
  const signedIn = await signInByPasskey(idctl.client({ keepCookies: true }), held);
  const session = String(expected(signedIn).accessToken);
  return { id: String(id), held, session, recoveryCode: String(recoveryCodes[0]) };
}

async function enrol(idctl: MailingIdctl, session: string): Promise<string> {
  const by = { authorization: `Bearer ${session}` };
  const { secret } = expected(await idctl.client().post('/api/v1/me/totp', undefined, by));
  const code = totpCode(idctl, secret);
  expected(await idctl.client().post('/api/v1/me/totp/confirm', { code }, by));
  return secret;
}

/** A code of a time step that no earlier code has used. */
export function totpCode(idctl: MailingIdctl, secret: string): string {
  idctl.wait(30);
  return generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) });
}

async function tokensOf(idctl: MailingIdctl, user: string) {
  const made = scopes.map(async (scope) => {
    const scoped = 'scope' in createToken.input.shape ? { scope } : {};
    const input = createToken.forOperator.input.parse({
      user,
      name: `of scope ${scope}`,
      ...scoped,
    });
    const { id, token } = await createToken(idctl.operator(), input);
    return [scope, { id, token }] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Record<
    (typeof scopes)[number],
    { id: string; token: string }
  >;
}

/** The token endpoint's answer to the app. */
export function mint(idctl: MailingIdctl, form: Record<string, string>): Promise<Answer> {
  return idctl.client().form('/api/v1/oauth/token', { grant_type: 'client_credentials', ...form });
}

/** Requests a code and reads it from the mail. */
export async function mailedCode(
  idctl: MailingIdctl,
  path: string,
  email: string,
): Promise<string> {
  await idctl.client().post(`/api/v1/auth/${path}`, { email });
  return idctl.codeFor(email);
}

/** Signs up and reads the code that confirms the address. */
export async function signUp(
  idctl: MailingIdctl,
  email: string,
  { client = idctl.client(), ...more }: { client?: Client; invitation?: string } = {},
) {
  expected(
    await client.post('/api/v1/auth/signup', { email, name: 'Newcomer', password, ...more }),
  );
  return { email, code: await idctl.codeFor(email) };
}

/** Starts a sign-in with Google up to the second factor. Returns the browser's cookies. */
async function waiting(
  idctl: MailingIdctl,
  { google }: Counterparts,
): Promise<Record<string, string>> {
  const { client, answer } = await withGoogle({ idctl, google }, 'ada');
  if (answer.body.code !== 'second_factor_required')
    throw new Error(`Google answered ${answer.status}`);
  return Object.fromEntries(client.jar);
}

/** Changes Ada's address at the providers, so that only her linked keys lead to her account. */
async function forgetAddress(
  { provider, google, slapd }: Counterparts,
  { domain }: Scene,
): Promise<void> {
  const email = `ada.lovelace@${domain}`;
  provider.people.set('ada', { email, email_verified: true, name: 'Ada Lovelace' });
  google.people.set('ada', { email, email_verified: true, hd: domain, name: 'Ada Lovelace' });
  await slapd.apply(
    `dn: uid=ada,ou=people,${suffix}\nchangetype: modify\nreplace: mail\nmail: ${email}\n`,
  );
}

/** The body of an answer that must be a success. */
export function expected({ status, body }: Answer): Answer['body'] {
  if (status >= 300) throw new Error(`the scene was answered ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The id of an access token's session. */
export const sessionOf = (accessToken: string) => String(decodeJwt(accessToken)['sid']);

/** A client that sends this credential as its bearer token. */
export function bearing(idctl: MailingIdctl, credential: string): Client {
  return idctl.client({ headers: { authorization: `Bearer ${credential}` } });
}

const pathOf = (url: string) => url.slice(baseUrl.length);
