import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClientOrigin } from '../../../src/database/models/client.ts';
import { Event } from '../../../src/database/models/event.ts';
import { ClientSignOut } from '../../../src/database/models/provider-record.ts';
import { Session } from '../../../src/database/models/session.ts';
import { execute } from '../../../src/database/select.ts';
import { transaction } from '../../../src/database/transaction.ts';
import { disableUser } from '../../../src/services/people/users/operations.ts';
import { lookForEnds } from '../../../src/services/signin/provider/ends.ts';
import { tellClients } from '../../../src/services/signin/provider/sign-outs.ts';
import { changeClient } from '../../../src/services/tenancy/clients/operations.ts';
import { removeMember } from '../../../src/services/tenancy/memberships/operations.ts';
import { fresh } from '../../support/builders.ts';
import { browserAt, enter, verify } from '../../support/forward-auth.ts';
import { type Idctl, openIdctl } from '../../support/idctl.ts';
import { open } from '../../support/pages.ts';
import { answering, type Receiver, startReceiver } from '../../support/receiver.ts';
import { application, browserOf, walk, walkTo } from '../../support/relying-party.ts';

let idctl: Idctl;
let receiver: Receiver;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await idctl.close();
});

/** Runs the job, as the daemon does each second. */
async function tick() {
  const ctx = idctl.as({ kind: 'system', name: 'test' });
  const anew = () => idctl.as({ kind: 'system', name: 'test' });
  await tellClients(ctx, { stop: new AbortController().signal, anew });
}

/** Runs the job; returns the claims of the logout tokens that came since the last call. */
async function told() {
  await tick();
  const keys = createRemoteJWKSet(new URL(`${idctl.baseUrl}/.well-known/jwks.json`));
  const tokens = receiver.received.splice(0).map(({ body }) => {
    return new URLSearchParams(body).get('logout_token') ?? '';
  });
  return Promise.all(
    tokens.map(async (token) => (await jwtVerify(token, keys, { typ: 'logout+jwt' })).payload),
  );
}

async function signedInApplication() {
  // Discards the logout tokens of the test before.
  await told();
  const app = await application(idctl, { backchannelLogoutUri: receiver.url });
  const browser = await browserOf(idctl, app.email);
  const tokens = await app.signIn(browser);
  expect(await told()).toEqual([]);
  const sid = tokens.claims()?.['sid'];
  const signOut = {
    iss: idctl.baseUrl,
    aud: app.clientId,
    sub: app.member.id,
    sid,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  };
  return { app, browser, tokens, signOut };
}

type Scene = Awaited<ReturnType<typeof signedInApplication>>;

const ends: Record<string, (scene: Scene) => Promise<unknown>> = {
  'the person signs out': ({ browser }) => browser.post('/api/v1/auth/logout'),
  'the account is disabled': ({ app }) => disableUser(idctl.operator(), { user: app.member.id }),
  'the member is removed': ({ app }) =>
    removeMember(idctl.operator(), { org: app.org.slug, user: app.member.id }),
  'the person signs out of the application': ({ browser, app }) =>
    browser.send('DELETE', `/api/v1/me/clients/${app.clientId}`),
};

test.each(Object.entries(ends))('a client is told once when %s', async (_when, end) => {
  const scene = await signedInApplication();
  await end(scene);
  expect(await told()).toMatchObject([scene.signOut]);
  expect(await told()).toEqual([]);
  await expect(
    openid.fetchUserInfo(scene.app.config, scene.tokens.access_token, scene.app.member.id),
  ).rejects.toThrow();
});

test('a client that answers with an error is told again later', async () => {
  const { browser, signOut } = await signedInApplication();
  receiver.behave(answering(503));
  await browser.post('/api/v1/auth/logout');
  expect(await told()).toHaveLength(1);
  receiver.behave(answering(200));
  expect(await told()).toEqual([]);
  idctl.wait(10);
  expect(await told()).toMatchObject([signOut]);
});

/** Makes the client's waiting sign-outs due now. */
const makeDue = (clientId: string) =>
  transaction(() => ClientSignOut.update({ nextAt: new Date(0) }, { where: { clientId } }));

test('a client that loses its logout URI and gets it again is not told of earlier sign-outs', async () => {
  const { browser, app } = await signedInApplication();
  const setUri = (backchannelLogoutUri: string | null) =>
    changeClient(idctl.operator(), {
      org: app.org.slug,
      client: app.clientId,
      backchannelLogoutUri,
    });
  receiver.behave(answering(503));
  await browser.post('/api/v1/auth/logout');
  expect(await told()).toHaveLength(1);
  receiver.behave(answering(200));
  await setUri(null);
  await setUri(receiver.url);
  await makeDue(app.row.id);
  expect(await told()).toEqual([]);
});

test('a waiting sign-out is deleted if its client no longer has a logout URI', async () => {
  const { browser, app } = await signedInApplication();
  receiver.behave(answering(503));
  await browser.post('/api/v1/auth/logout');
  expect(await told()).toHaveLength(1);
  receiver.behave(answering(200));
  // Changes the row directly, as if the change and the sign-out had happened at the same moment.
  await transaction(() => app.row.update({ backchannelLogoutUri: null }));
  await makeDue(app.row.id);
  expect(await told()).toEqual([]);
  expect(await ClientSignOut.count({ where: { clientId: app.row.id } })).toBe(0);
});

test('if the database fails during the search for ended sessions, the next run searches again', async () => {
  const { browser, signOut } = await signedInApplication();
  await browser.post('/api/v1/auth/logout');
  lookForEnds(idctl.app).turns = 1;
  await transaction(() => execute('ALTER TABLE client_sign_outs RENAME TO away', []));
  await expect(tick()).rejects.toThrow();
  await transaction(() => execute('ALTER TABLE away RENAME TO client_sign_outs', []));
  expect(await told()).toMatchObject([signOut]);
});

test('the account page lists an application and signs the person out of it; the session continues', async () => {
  const { browser } = await signedInApplication();
  const page = await open(browser, '/');
  expect(page.text).toContain('Grafana');
  const after = await page.submit('/account/clients/end');
  expect(after.text).toContain('You are signed out of that application.');
  expect((await browser.get('/api/v1/me/clients')).body.items).toEqual([]);
  expect(await told()).toHaveLength(1);
});

test('an application that also uses forward auth is one row on the account page, and one button ends both sign-ins', async () => {
  const { app, browser, tokens } = await signedInApplication();
  const origin = `https://${fresh('app')}.example.test`;
  const row = { origin, clientId: app.row.id, byOperator: true };
  await transaction(() => ClientOrigin.create(row));
  const there = browserAt(idctl, origin);
  await enter(there, browser);
  expect((await verify(there)).status).toBe(200);
  const page = await open(browser, '/');
  expect(page.text.match(/Grafana/g)).toHaveLength(1);
  await page.submit('/account/clients/end');
  expect((await verify(there)).status).toBe(401);
  expect((await browser.get('/api/v1/me/clients')).body.items).toEqual([]);
  expect(await told()).toHaveLength(1);
  const events = await Event.findAll({ where: { kind: 'client.session.ended' } });
  const session = tokens.claims()?.['sid'];
  expect(events.filter(({ data }) => data?.['session'] === session)).toHaveLength(1);
});

const logout = (fields: Record<string, string>) => `/oauth/logout?${new URLSearchParams(fields)}`;
const bye = 'https://app.example.test/bye';

test('an application that sends its ID token signs the person out without a confirmation', async () => {
  const { browser, tokens } = await signedInApplication();
  const given = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: bye, state: 'x' };
  expect(await walk(browser, logout(given))).toBe(`${bye}?state=x`);
  expect((await browser.get('/api/v1/me')).status).toBe(401);
  expect(await told()).toHaveLength(1);
});

test('without an ID token, idctl asks the person first', async () => {
  const { browser, app } = await signedInApplication();
  const given = { client_id: app.clientId, post_logout_redirect_uri: bye };
  const page = await open(browser, logout(given));
  expect(page.text).toContain('Grafana asks to sign you out');
  expect(page.headers['content-security-policy']).toContain('https://app.example.test');
  expect((await browser.get('/api/v1/me')).status).toBe(200);
  expect((await page.submit('/oauth/logout/confirm')).headers['location']).toBe(bye);
  expect((await browser.get('/api/v1/me')).status).toBe(401);
});

test('without an ID token and a client id, the person returns to the address only if exactly one client has registered it', async () => {
  const { browser, app } = await signedInApplication();
  const only = `https://app.example.test/${app.row.id}`;
  await transaction(() => app.row.update({ postLogoutRedirectUris: [bye, only] }));
  const one = await open(browser, logout({ post_logout_redirect_uri: only, state: 'x' }));
  expect(one.text).toContain('Grafana asks to sign you out');
  expect((await browser.get('/api/v1/me')).status).toBe(200);
  expect((await one.submit('/oauth/logout/confirm')).headers['location']).toBe(`${only}?state=x`);
  const { browser: next } = await signedInApplication();
  for (const given of [{}, { post_logout_redirect_uri: bye }]) {
    const page = await open(next, logout(given));
    expect(page.text).toContain('An application asks to sign you out');
    expect(page.headers['content-security-policy']).not.toContain('app.example.test');
  }
  const page = await open(next, logout({ post_logout_redirect_uri: bye }));
  const after = await page.submit('/oauth/logout/confirm');
  expect([after.status, after.headers['location']]).toEqual([200, undefined]);
  expect(after.text).toContain('You are signed out');
});

test('if idctl cannot read the ID token, it asks the person and does not redirect', async () => {
  const { browser, app } = await signedInApplication();
  const given = { id_token_hint: 'an.old.token', post_logout_redirect_uri: bye };
  const page = await open(browser, logout(given));
  expect(page.text).toContain('An application asks to sign you out');
  expect((await browser.get('/api/v1/me')).status).toBe(200);
  const after = await page.submit('/oauth/logout/confirm');
  expect([after.headers['location'], after.text]).toEqual([
    undefined,
    expect.stringContaining('You are signed out'),
  ]);
  const named = { ...given, client_id: app.clientId };
  const stranger = await walkTo(idctl.client({ keepCookies: true }), logout(named));
  expect([stranger.status, stranger.headers['location']]).toEqual([200, undefined]);
});

test('an ID token of another application is refused, and one of another session makes idctl ask', async () => {
  const { browser, app, tokens } = await signedInApplication();
  const other = await application(idctl);
  const hint = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: bye };
  const mixed = await walkTo(browser, logout({ ...hint, client_id: other.clientId }));
  expect(mixed.status).toBe(400);
  const elsewhere = await browserOf(idctl, app.email);
  const page = await open(elsewhere, logout(hint));
  expect(page.text).toContain('Grafana asks to sign you out');
  for (const one of [browser, elsewhere]) expect((await one.get('/api/v1/me')).status).toBe(200);
});

test('S7 a sign-out redirects only to a URI that the client has registered', async () => {
  const { browser, app, tokens } = await signedInApplication();
  const evil = { post_logout_redirect_uri: 'https://evil.example.test/' };
  const hint = { id_token_hint: tokens.id_token ?? '' };
  expect((await walkTo(browser, logout(evil))).headers['location']).toBeUndefined();
  for (const given of [
    { ...evil, ...hint },
    { ...evil, client_id: app.clientId },
  ]) {
    expect((await walkTo(browser, logout(given))).status).toBe(400);
  }
  expect((await browser.get('/api/v1/me')).status).toBe(200);
});

test('a person who confirms the sign-out after the access token has expired is signed out', async () => {
  const { browser, app } = await signedInApplication();
  const given = { client_id: app.clientId, post_logout_redirect_uri: bye };
  const page = await open(browser, logout(given));
  idctl.wait(16 * 60);
  expect((await page.submit('/oauth/logout/confirm')).headers['location']).toBe(bye);
  const where = { accountId: app.member.id, endedAt: null };
  expect(await Session.count({ where })).toBe(0);
});
