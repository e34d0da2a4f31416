import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { fresh, organization, password, person } from '../support/builders.ts';
import type { Answer, Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { walkTo } from '../support/relying-party.ts';
import { comeBack, connected, registration, start } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

// Security X7: a sibling host, or an attacker without TLS, must not set a cookie that idctl reads.

let site: MailingIdctl;
let provider: OpenIdProvider;
afterEach(async () => {
  await site?.close();
  await provider?.stop();
});

async function openSite(baseUrl?: string): Promise<void> {
  site = await openMailingIdctl({
    ...(baseUrl === undefined ? {} : { baseUrl }),
    signup: { open: 'on' },
    signin: { github: 'on' },
    outbound: { allow: ['127.0.0.1'] },
    social: { github: { clientId: 'idctl', clientSecret: 'a secret of GitHub' } },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${site.app.config.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
}

const https = 'https://id.example.test';

/** A client of the server that keeps cookies, and records each cookie that is set. */
function recording() {
  const client = site.client({ keepCookies: true });
  const set: Answer['cookies'] = [];
  const noted =
    <Given extends unknown[]>(send: (...given: Given) => Promise<Answer>) =>
    async (...given: Given) => {
      const answer = await send(...given);
      set.push(...answer.cookies.filter(({ value }) => value !== ''));
      return answer;
    };
  const { get, post, form, send } = client;
  const recorded: Client = {
    ...client,
    get: noted(get),
    post: noted(post),
    form: noted(form),
    send: noted(send),
  };
  return { client: recorded, set };
}

/** Begins an authorization for a client of the organization, up to the sign-in page. */
async function authorize(browser: Client, org: string) {
  const redirectUri = 'https://app.example.test/callback';
  const input = { org, name: fresh('Wiki'), redirectUris: [redirectUri], pkce: false };
  const made = await createClient(site.operator(), createClient.input.parse(input));
  const query = new URLSearchParams({
    client_id: made.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    state: 's',
  });
  await walkTo(browser, `/oauth/authorize?${query}`);
}

/** Does everything that sets a cookie. Returns the cookies, by their bare names. */
async function everyCookie() {
  const { client, set } = recording();
  const { org, domain } = await connected(site, provider.issuer);
  const { account } = await enrolled(site, `${fresh('ada')}@${domain}`);
  await client.get('/login', { accept: 'text/html' });
  await client.get(`/auth/sso/start?domain=${domain}`);
  await client.get('/auth/social/github/start');
  await client.post('/api/v1/auth/passkey/options');
  const body = { email: `${fresh('new')}@example.test`, password, name: 'Ada Byron' };
  await client.post('/api/v1/auth/signup', body);
  const page = await open(client, `/login?identifier=${account.email}`);
  await page.submit('/login/password', { password });
  await authorize(client, org.slug);
  const { email } = await person(site);
  await client.post('/api/v1/auth/login', { email, password });
  await (await open(client, '/')).submit('/account/tokens', { name: 'Backups' });
  const bare = (name: string) => name.replace(/^__(Host|Secure)-/, '');
  return new Map(set.map((cookie) => [bare(cookie.name), cookie]));
}

const ofSession = ['access_token', 'refresh_token'];
const ofProvider = ['oauth_request', 'oauth_resume', 'oauth_sign_in'];
const others = [
  ...['form', 'known_browser', 'passkey', 'second_factor', 'session_name', 'sign_up'],
  ...['shown_once', 'social_flow', 'sso_flow'],
];

describe('X7 the names of cookies', () => {
  test('X7 on https, every cookie has the prefix __Host-, but the two of the session, and those of one authorization, which have __Secure-', async () => {
    await openSite(https);
    const set = await everyCookie();
    expect([...set.keys()].sort()).toEqual([...ofSession, ...ofProvider, ...others].sort());
    for (const [bare, { name, path, secure, domain, httpOnly }] of set) {
      expect([bare, secure, domain, httpOnly]).toEqual([bare, true, undefined, true]);
      if (ofSession.includes(bare)) expect(name).toBe(bare);
      else if (ofProvider.includes(bare)) {
        expect(name).toBe(`__Secure-${bare}`);
        expect(path).toMatch(/^\/(oauth\/authorize\/[\w-]+|login)$/);
      } else expect([name, path]).toEqual([`__Host-${bare}`, '/']);
    }
  });

  test('X7 on plain http, no cookie has a prefix, and the cookies of a sign-in by redirect have the path /', async () => {
    await openSite();
    const set = await everyCookie();
    // Passkeys need a host name, and this address is an IP address.
    const expected = [...ofSession, ...ofProvider, ...others].filter((bare) => bare !== 'passkey');
    expect([...set.keys()].sort()).toEqual(expected.sort());
    for (const [bare, { name }] of set) expect(name).toBe(bare);
    for (const bare of ['sso_flow', 'social_flow']) expect(set.get(bare)?.path).toBe('/');
  });
});

describe('X7 on https, a name without the prefix is not read', () => {
  beforeEach(() => openSite(https));

  /** Renames a cookie of the browser to its name without prefix, as an attacker would plant it. */
  function unprefixed({ jar }: Client, name: string): void {
    const sent = [...jar].find(([known]) => known.endsWith(`-${name}`));
    if (sent === undefined) throw new Error(`no cookie ${name} in ${[...jar.keys()]}`);
    jar.delete(sent[0]);
    jar.set(name, sent[1]);
  }

  test('X7 a form is refused', async () => {
    const browser = site.client({ keepCookies: true });
    const { email } = await person(site);
    const page = await open(browser, `/login?identifier=${email}`);
    unprefixed(browser, 'form');
    expect((await page.submit('/login/password', { password })).status).toBe(403);
  });

  test('X7 a sign-in by redirect is refused', async () => {
    const { domain } = await connected(site, provider.issuer);
    const sub = fresh('sub');
    provider.people.set(sub, { email: `${sub}@${domain}`, email_verified: true, name: 'Ada' });
    const browser = site.client({ keepCookies: true });
    const callback = await provider.signIn(await start(browser, domain), sub);
    unprefixed(browser, 'sso_flow');
    const navigation = { 'sec-fetch-mode': 'navigate' };
    expect((await comeBack(browser, callback, navigation)).status).toBe(401);
  });

  test('X7 a second factor is refused, and the sign-in begins again', async () => {
    const { domain } = await connected(site, provider.issuer, { requireLocalTwoFactor: true });
    const { account, code } = await enrolled(site, `${fresh('ada')}@${domain}`);
    const sub = fresh('sub');
    provider.people.set(sub, { email: account.email ?? '', email_verified: true, name: 'Ada' });
    const arrive = async () => {
      const browser = site.client({ keepCookies: true });
      await comeBack(browser, await provider.signIn(await start(browser, domain), sub));
      return browser;
    };
    const old = await arrive();
    unprefixed(old, 'second_factor');
    const send = (browser: Client) =>
      browser.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect((await send(old)).status).toBe(401);
    expect((await send(await arrive())).status).toBe(200);
  });

  test('X7 a sign-in is told by mail, as one from a new browser', async () => {
    const { email } = await person(site);
    const browser = site.client({ keepCookies: true });
    const signIn = () => browser.post('/api/v1/auth/login', { email, password });
    await signIn();
    await signIn();
    expect(await site.lettersTo(email ?? '')).toEqual([]);
    unprefixed(browser, 'known_browser');
    await signIn();
    expect(await site.lettersTo(email ?? '')).toHaveLength(1);
  });

  test('X7 an authorization under way is refused, and begins again', async () => {
    const org = await organization(site);
    const { email } = await person(site);
    await addMember(site.operator(), { org: org.slug, email: email ?? '', role: 'member' });
    const finish = async (renamed: boolean) => {
      const { client: browser, set } = recording();
      await authorize(browser, org.slug);
      const path = set.find(({ name }) => name.endsWith('oauth_request'))?.path ?? '';
      if (renamed) for (const name of ofProvider) unprefixed(browser, name);
      await browser.post('/api/v1/auth/login', { email, password });
      const done = await browser.get(path, { accept: 'text/html' });
      return String(done.headers['location'] ?? '').includes('code=');
    };
    expect([await finish(false), await finish(true)]).toEqual([true, false]);
  });
});
