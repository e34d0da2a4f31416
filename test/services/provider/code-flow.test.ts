import { once } from 'node:events';
import { createServer } from 'node:http';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rotateSigningKey } from '../../../src/services/foundation/keys/operations.ts';
import { setUserPassword } from '../../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../../src/services/provisioning/scim/token.ts';
import { answerByProvider } from '../../../src/services/signin/provider/provider.ts';
import { password, verifiedDomain } from '../../support/builders.ts';
import { createClient } from '../../support/http.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { open } from '../../support/pages.ts';
import { portOf } from '../../support/ports.ts';
import { application, browserOf, walk, walkTo } from '../../support/relying-party.ts';
import { clientOf } from '../../support/scim-client.ts';
import { tablesOf } from '../../support/statements.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

test('a member signs in to an application with openid-client, and userinfo returns the same claims', async () => {
  const app = await application(idctl);
  const tokens = await app.signIn(await browserOf(idctl, app.email));
  const claims = tokens.claims();
  expect(claims).toMatchObject({
    iss: idctl.baseUrl,
    aud: app.clientId,
    sub: app.member.id,
    email: app.email,
    email_verified: true,
    preferred_username: app.email,
    name: 'Ada Byron',
    groups: ['member'],
    organization: { id: app.org.id, slug: app.org.slug },
    acr: 'urn:idctl:1',
    amr: ['pwd'],
  });
  expect(tokens.expires_in).toBe(600);
  expect(tokens.refresh_token).toBeUndefined();
  const info = await openid.fetchUserInfo(app.config, tokens.access_token, app.member.id);
  expect(info).toMatchObject({ email: app.email, groups: ['member'], sid: claims?.['sid'] });
});

test('each request of a sign-in reads its rows from the database, and no row twice', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  await app.signIn(browser);
  const tables = await tablesOf(() => app.signIn(browser, { scope: 'openid email' }));
  expect(tables).toEqual([
    // The authorization request: who asks, then client, grant and membership, then the new code.
    ...['sessions', 'clients', 'counters', 'provider_records'],
    // The token request: all rows of the code, then the spent code and the new token.
    ...['clients', 'provider_records', 'provider_records'],
  ]);
});

test('userinfo, introspection and a refresh read all their rows with one statement', async () => {
  const app = await application(idctl);
  const scope = 'openid email offline_access';
  const tokens = await app.signIn(await browserOf(idctl, app.email), { scope });
  const { access_token: access, refresh_token: refresh = '' } = tokens;
  const userinfo = () => openid.fetchUserInfo(app.config, access, app.member.id);
  expect(await tablesOf(userinfo)).toEqual(['provider_records']);
  const introspect = async (hint?: Record<string, string>) => {
    const found = await openid.tokenIntrospection(app.config, access, hint);
    expect(found).toMatchObject({ active: true });
  };
  const hinted = { token_type_hint: 'access_token' };
  expect(await tablesOf(() => introspect(hinted))).toEqual(['clients']);
  // Without a hint, the package looks for a refresh token too.
  expect(await tablesOf(introspect)).toEqual(['clients', 'provider_records']);
  const refreshed = await tablesOf(() => openid.refreshTokenGrant(app.config, refresh));
  expect(refreshed).toEqual([
    'clients',
    // The spent token, its limit, and the use of the session.
    ...['provider_records', 'counters', 'sessions'],
    // The new tokens.
    ...['provider_records', 'provider_records'],
  ]);
});

test('the claims have the given and family name if SCIM provides them', async () => {
  const app = await application(idctl);
  const { token } = await rotateScimToken(idctl.operator(), { org: app.org.slug });
  const name = { givenName: 'Grace', familyName: 'Hopper' };
  const domain = await verifiedDomain(idctl, app.org.slug);
  const email = `grace@${domain}`;
  const client = clientOf(idctl, app.org, token);
  await client.create({ userName: email, name });
  await setUserPassword(idctl.operator(), { user: email, password });
  const claims = (await app.signIn(await browserOf(idctl, email))).claims();
  expect(claims).toMatchObject({ given_name: 'Grace', family_name: 'Hopper' });
  expect(claims?.['updated_at']).toBeTypeOf('number');
});

test('a client that is registered for EdDSA gets an ID token signed with EdDSA', async () => {
  const app = await application(idctl, { idTokenAlg: 'EdDSA' });
  const tokens = await app.signIn(await browserOf(idctl, app.email));
  expect(decodeJwt(tokens.id_token ?? '').sub).toBe(app.member.id);
});

test('a public client needs only PKCE to sign a person in', async () => {
  const app = await application(idctl, { public: true });
  expect((await app.signIn(await browserOf(idctl, app.email))).access_token).toBeTruthy();
});

test('offline_access does not need consent; refresh tokens rotate', async () => {
  const app = await application(idctl);
  const tokens = await app.signIn(await browserOf(idctl, app.email), {
    scope: 'openid offline_access',
  });
  const again = await openid.refreshTokenGrant(app.config, tokens.refresh_token ?? '');
  expect(again.refresh_token).not.toBe(tokens.refresh_token);
  expect(again.claims()?.sub).toBe(app.member.id);
});

test('a person who is not signed in gets the sign-in page, whose CSP allows the redirect to the application', async () => {
  const app = await application(idctl);
  const browser = idctl.client({ keepCookies: true });
  const { path } = await app.begin();
  const page = await walkTo(browser, path);
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('Grafana')]);
  expect(page.headers['content-security-policy']).toContain('https://app.example.test');
});

test('X2 a rotation of the signing key breaks no sign-in at applications, and earlier ID tokens stay valid', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const before = (await app.signIn(browser)).id_token ?? '';
  await rotateSigningKey(idctl.operator(), {});
  expect(kidOf((await app.signIn(browser)).id_token)).toBe(kidOf(before));
  idctl.wait(130);
  // Runs discovery again, because openid-client reads the keys at most once a minute.
  const { path: next, checks } = await app.begin();
  const fresh = await app.discover();
  const callback = new URL(await walk(browser, next));
  const after = await openid.authorizationCodeGrant(fresh, callback, checks);
  expect(kidOf(after.id_token)).not.toBe(kidOf(before));
  const { path } = await app.begin({ id_token_hint: before, prompt: 'none' });
  expect(await walk(browser, path)).toContain('code=');
});

const kidOf = (token = '') => decodeProtectedHeader(token).kid;

test('both well-known documents are the same, and agree with that of oidc-provider', async () => {
  const get = async (path: string) => (await idctl.client().get(`/.well-known/${path}`)).body;
  const document = await get('openid-configuration');
  expect(await get('oauth-authorization-server')).toEqual(document);
  expect(document.issuer).toBe(idctl.baseUrl);
  const own = await describedByPackage();
  for (const key of [
    ...['issuer', 'authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'],
    ...['introspection_endpoint', 'revocation_endpoint', 'response_types_supported'],
    ...['code_challenge_methods_supported', 'subject_types_supported', 'acr_values_supported'],
    ...['scopes_supported', 'authorization_response_iss_parameter_supported'],
  ])
    expect([key, sorted(document[key])]).toEqual([key, sorted(own[key])]);
});

/** The discovery document that `oidc-provider` itself serves. */
async function describedByPackage() {
  const visit = { ctx: idctl.operator(), session: null, clients: new Map(), pages: noPages };
  const server = createServer((request, response) => {
    void answerByProvider(visit, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const headers = { host: new URL(idctl.baseUrl).host };
  const client = createClient(`http://127.0.0.1:${portOf(server)}`, { headers });
  const { body } = await client.get('/.well-known/openid-configuration');
  server.closeAllConnections();
  server.close();
  return body;
}

const noPages = {
  fail: () => undefined,
  post: () => undefined,
  deny: () => undefined,
  breakOff: () => undefined,
};

const sorted = (value: unknown) => (Array.isArray(value) ? [...value].sort() : value);

test('prompt=login asks the person to sign in again, and max_age counts from the sign-in', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const page = await open(
    browser,
    (await app.begin({ prompt: 'login', login_hint: app.email })).path,
  );
  expect(page.text).toContain('Sign in to continue to Grafana');
  const done = await page.submit('/login/password', { password });
  expect(String(done.headers['location'])).toContain('code=');
  const old = await app.begin({ max_age: '0', prompt: 'none' });
  expect(await walk(browser, old.path)).toContain('error=');
  expect(await walk(browser, (await app.begin({ max_age: '600' })).path)).toContain('code=');
});

test('prompt=select_account shows the sign-in page, and the next sign-in answers the request', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const asked = { prompt: 'select_account', login_hint: app.email };
  const page = await open(browser, (await app.begin(asked)).path);
  expect(page.text).toContain('Sign in to continue to Grafana');
  const done = await page.submit('/login/password', { password });
  expect(String(done.headers['location'])).toContain('code=');
  const silent = await app.begin({ prompt: 'none select_account' });
  expect(await walk(browser, silent.path)).toContain('error=invalid_request');
});

test('response_mode=form_post returns a form without script, and fragment is refused', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const page = await walkTo(browser, (await app.begin({ response_mode: 'form_post' })).path);
  expect(page.body).toContain('<form method="post" action="https://app.example.test/callback">');
  expect(page.body).toMatch(/name="code" value="[\w-]{43}"/);
  expect(page.body).not.toContain('<script');
  expect(page.headers['content-security-policy']).toContain('https://app.example.test');
  const fragment = (await app.begin({ response_mode: 'fragment' })).path;
  expect(await walk(browser, fragment)).toContain('?error=unsupported_response_mode');
});

test('an authorization request renews an expired access token, also with prompt=none', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  browser.jar.delete('access_token');
  expect(await walk(browser, (await app.begin({ prompt: 'none' })).path)).toContain('code=');
});

test('an authorization request by POST is answered like one by GET', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { url } = await app.begin();
  const sent = Object.fromEntries(url.searchParams);
  const from = { origin: 'https://app.example.test', 'sec-fetch-site': 'cross-site' };
  const answer = await browser.form('/oauth/authorize', sent, from);
  expect(await walk(browser, String(answer.headers['location']))).toContain('code=');
});

test('prompt=none never shows a page', async () => {
  const app = await application(idctl);
  const { path } = await app.begin({ prompt: 'none' });
  const back = new URL(await walk(idctl.client({ keepCookies: true }), path));
  expect(back.searchParams.get('error')).toBe('login_required');
  expect(back.searchParams.get('iss')).toBe(idctl.baseUrl);
  const signed = await browserOf(idctl, app.email);
  expect(new URL(await walk(signed, path)).searchParams.get('code')).toBeTruthy();
});
