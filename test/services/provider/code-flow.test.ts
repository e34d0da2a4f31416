import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { application, browserOf, walk, walkTo } from '../../support/relying-party.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

test('a member signs in to an application with openid-client, and userinfo says the same', async () => {
  const app = await application(idctl);
  const tokens = await app.signIn(await browserOf(idctl, app.email));
  const claims = tokens.claims();
  expect(claims).toMatchObject({
    iss: idctl.baseUrl,
    aud: app.clientId,
    sub: app.member.id,
    email: app.email,
    email_verified: true,
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

test('EdDSA signs the ID token of a client that asks for it', async () => {
  const app = await application(idctl, { idTokenAlg: 'EdDSA' });
  const tokens = await app.signIn(await browserOf(idctl, app.email));
  expect(decodeJwt(tokens.id_token ?? '').sub).toBe(app.member.id);
});

test('a public client signs in with PKCE alone', async () => {
  const app = await application(idctl, { public: true });
  expect((await app.signIn(await browserOf(idctl, app.email))).access_token).toBeTruthy();
});

test('offline_access needs no consent; refresh tokens rotate', async () => {
  const app = await application(idctl);
  const tokens = await app.signIn(await browserOf(idctl, app.email), {
    scope: 'openid offline_access',
  });
  const again = await openid.refreshTokenGrant(app.config, tokens.refresh_token ?? '');
  expect(again.refresh_token).not.toBe(tokens.refresh_token);
  expect(again.claims()?.sub).toBe(app.member.id);
});

test('a person who is not signed in gets the sign-in page, signs in and comes back', async () => {
  const app = await application(idctl);
  const browser = idctl.client({ keepCookies: true });
  const { path } = await app.begin();
  const page = await walkTo(browser, path);
  expect([page.status, page.body]).toEqual([200, expect.stringContaining('Grafana')]);
  expect(page.headers['content-security-policy']).toContain('https://app.example.test');
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
