import { afterAll, beforeAll, expect, test } from 'vitest';
import { transaction } from '../../src/database/transaction.ts';
import { removeClient } from '../../src/services/tenancy/clients/operations.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { application, browserOf } from '../support/relying-party.ts';

// Public clients in a browser call idctl from their own origin, without configuration.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const origin = 'https://app.example.test';
const allowed = 'access-control-allow-origin';
const called = ['/api/v1/oauth/token', '/api/v1/oauth/revoke', '/oauth/userinfo'];

/** The headers of the answer to a preflight from this origin. */
async function preflight(path: string, from: string) {
  const headers = {
    origin: from,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  return idctl.client().send('OPTIONS', path, { headers });
}

test('an RSA key stands in the published keys from the first client on', async () => {
  const algorithms = async () => {
    const { body } = await idctl.client().get('/.well-known/jwks.json');
    return body.keys.map(({ alg }: { alg: string }) => alg).sort();
  };
  expect(await algorithms()).toEqual(['EdDSA']);
  const app = await application(idctl);
  expect(await algorithms()).toEqual(['EdDSA', 'RS256']);
  await transaction(() => app.row.destroy());
});

test('discovery and keys allow every origin, without credentials', async () => {
  for (const path of [
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    '/.well-known/jwks.json',
  ]) {
    const { status, headers } = await idctl.client().get(path, { origin: 'https://any.test' });
    expect([path, status, headers[allowed]]).toEqual([path, 200, '*']);
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect((await preflight(path, 'https://any.test')).status).toBe(204);
  }
});

test('O10 token, userinfo and revocation allow the origin of a public client, and only while the client lives', async () => {
  const app = await application(idctl, { public: true });
  for (const path of called) {
    const { status, headers } = await preflight(path, origin);
    expect([path, status, headers[allowed]]).toEqual([path, 204, origin]);
    expect(headers['access-control-allow-headers']).toBe('authorization, content-type');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    expect(headers['vary']).toContain('Origin');
    for (const other of ['https://app.example.test:8443', 'https://evil.test', 'null', 'x'])
      expect((await preflight(path, other)).headers[allowed]).toBeUndefined();
  }
  await removeClient(idctl.operator(), { org: app.org.slug, client: app.clientId });
  for (const path of called)
    expect((await preflight(path, origin)).headers[allowed]).toBeUndefined();
});

test('O10 a client with a secret does not open an origin, and neither does a part of an origin', async () => {
  const app = await application(idctl);
  for (const path of called)
    expect((await preflight(path, origin)).headers[allowed]).toBeUndefined();
  await transaction(() =>
    app.row.update({ secretHash: null, redirectUris: ['https://app.example.test.evil.test/x'] }),
  );
  for (const path of called)
    expect((await preflight(path, origin)).headers[allowed]).toBeUndefined();
});

test('a script of a public client exchanges a code, reads userinfo and revokes its token', async () => {
  const app = await application(idctl, { public: true });
  const browser = await browserOf(idctl, app.email);
  const { path, checks } = await app.begin();
  const { headers } = await browser.get(`${path}&again=1`, { accept: 'text/html' });
  const code = new URL(String(headers['location'])).searchParams.get('code') ?? '';
  const script = { origin, 'sec-fetch-site': 'cross-site' };
  const fields = {
    grant_type: 'authorization_code',
    client_id: app.clientId,
    redirect_uri: `${origin}/callback`,
    code_verifier: checks.pkceCodeVerifier,
  };
  const from = idctl.client();
  const tokens = await from.form('/api/v1/oauth/token', { ...fields, code }, script);
  expect([tokens.status, tokens.headers[allowed]]).toEqual([200, origin]);
  const bearer = { ...script, authorization: `Bearer ${tokens.body.access_token}` };
  const info = await from.get('/oauth/userinfo', bearer);
  expect([info.status, info.headers[allowed], info.body.preferred_username]).toEqual([
    200,
    origin,
    app.email,
  ]);
  const token = { token: tokens.body.access_token, client_id: app.clientId };
  const revoked = await from.form('/api/v1/oauth/revoke', token, script);
  expect([revoked.status, revoked.headers[allowed], revoked.body]).toEqual([200, origin, '']);
  expect(revoked.headers['content-type']).toBeUndefined();
  const gone = await from.get('/oauth/userinfo', bearer);
  expect([gone.status, gone.headers[allowed]]).toEqual([401, origin]);
});
