import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../support/http.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { application, browserOf, walk } from '../../support/relying-party.ts';

// These tests have the names of modules in the certification plans "Basic OP" and "Config OP". There
// are none for request objects and the `claims` parameter, which idctl does not offer. Other files
// test prompts that show a page, code reuse and form_post.

let idctl: Idctl;
let app: Awaited<ReturnType<typeof application>>;
let browser: Client;
beforeAll(async () => {
  idctl = await openIdctl();
  app = await application(idctl);
  browser = await browserOf(idctl, app.email);
});
afterAll(() => idctl.close());

describe('Basic OP', () => {
  test.each<[string, Record<string, string>]>([
    ['oidcc-server', {}],
    ['oidcc-scope-profile', { scope: 'openid profile' }],
    ['oidcc-scope-email', { scope: 'openid email' }],
    ['oidcc-scope-all', { scope: 'openid profile email address phone' }],
    ['oidcc-ensure-other-scope-order-succeeds', { scope: 'email openid' }],
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-prompt-none-logged-in', { prompt: 'none' }],
    ['oidcc-max-age-10000', { max_age: '10000' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-login-hint', { login_hint: 'ada@example.test' }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
    ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: 'urn:idctl:1 urn:idctl:2' }],
  ])('%s', async (_module, params) => {
    const tokens = await app.signIn(browser, params);
    expect(tokens.claims()).toMatchObject({ sub: app.member.id, acr: 'urn:idctl:1' });
    expect(tokens.claims()?.['auth_time']).toBeTypeOf('number');
  });

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    const { path, checks } = await app.begin();
    const callback = await walk(browser, path.replace('&nonce=nonce', ''));
    const { expectedNonce: _none, ...rest } = checks;
    const tokens = await openid.authorizationCodeGrant(app.config, new URL(callback), rest);
    expect(tokens.claims()?.['nonce']).toBeUndefined();
  });

  test('oidcc-response-type-missing', async () => {
    const { path } = await app.begin();
    const back = new URL(await walk(browser, path.replace(/response_type=code&?/, '')));
    expect(back.searchParams.get('error')).toBe('invalid_request');
  });

  test('oidcc-id-token-hint', async () => {
    const hint = (await app.signIn(browser)).id_token ?? '';
    const tokens = await app.signIn(browser, { prompt: 'none', id_token_hint: hint });
    expect(tokens.claims()?.sub).toBe(app.member.id);
  });

  test('oidcc-userinfo-get, -post-header, -post-body', async () => {
    const { access_token: token } = await app.signIn(browser);
    const by = { authorization: `Bearer ${token}` };
    const client = idctl.client();
    const expected = { sub: app.member.id, email: app.email };
    expect((await client.get('/oauth/userinfo', by)).body).toMatchObject(expected);
    expect((await client.form('/oauth/userinfo', {}, by)).body).toMatchObject(expected);
    expect((await client.form('/oauth/userinfo', { access_token: token })).body).toMatchObject(
      expected,
    );
    const none = await client.get('/oauth/userinfo');
    expect([none.status, none.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('Bearer'),
    ]);
  });
});

test('Config OP: oidcc-discovery-endpoint-verification', async () => {
  const { body } = await idctl.client().get('/.well-known/openid-configuration');
  for (const key of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])
    expect(body[key]).toMatch(new RegExp(`^${idctl.baseUrl}/`));
  expect(body).toMatchObject({
    issuer: idctl.baseUrl,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'EdDSA'],
  });
  expect(body.claims_supported).toEqual(expect.arrayContaining(['sub', 'email', 'groups']));
  const keys = (await idctl.client().get('/.well-known/jwks.json')).body.keys;
  expect(keys.map(({ alg }: { alg: string }) => alg).sort()).toEqual(['EdDSA', 'RS256']);
  expect(JSON.stringify(keys)).not.toContain('"d"');
});
