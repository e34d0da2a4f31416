import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { AccountBrowser } from '../../src/database/models/account-browser.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { fresh, password, person } from '../support/builders.ts';
import type { Answer, Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { arrived, browserAt, lettersOf, subjectsOf } from '../support/notices.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { open } from '../support/pages.ts';
import { addPasskey, passkeySite, signInByPasskey } from '../support/passkeys.ts';
import { comeBack, connected, registration, start } from '../support/sso.ts';
import { sweepNow } from '../support/sweep.ts';

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    baseUrl: passkeySite,
    limits: { enabled: 'off' },
    signin: { magicCode: 'on' },
    outbound: { allow: ['127.0.0.1'] },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${passkeySite}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl.close();
  await provider.stop();
});

const announced = 'Sign-in from a new browser - idctl';
const cookie = '__Host-known_browser';
const hour = 3600;
const day = 86_400;

async function login(client: Client, email: string): Promise<Answer> {
  const answer = await client.post('/api/v1/auth/login', { email, password });
  expect(answer.status).toBe(200);
  return answer;
}

async function logout(client: Client): Promise<void> {
  expect((await client.post('/api/v1/auth/logout')).status).toBe(204);
}

const browsersOf = (accountId: string) => AccountBrowser.findAll({ where: { accountId } });

test('a sign-in sets a cookie that outlives sign-out for 400 days; the database keeps only its hash', async () => {
  const { email, id } = await person(idctl);
  const client = browserAt(idctl);
  const { cookies, body } = await login(client, email ?? '');
  const set = cookies.find(({ name }) => name === cookie);
  const value = expect.stringMatching(/^[\w-]{22}$/);
  const attributes = { httpOnly: true, sameSite: 'lax', secure: true, path: '/' };
  expect(set).toMatchObject({ value, maxAge: 400 * day, ...attributes });
  expect(JSON.stringify(body)).not.toContain(set?.value);
  await logout(client);
  expect(client.jar.get(cookie)).toBe(set?.value);
  const again = await login(client, email ?? '');
  expect(again.cookies.find(({ name }) => name === cookie)?.value).toBe(set?.value);
  const rows = await browsersOf(id);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(set?.value);
});

test('a refreshed session is no sign-in, and does not set the cookie', async () => {
  const { email } = await arrived(idctl);
  const bearer = idctl.client();
  const { refreshToken } = (await login(bearer, email)).body;
  const refreshed = await bearer.post('/api/v1/auth/refresh', { refreshToken });
  expect(refreshed.status).toBe(200);
  expect(refreshed.cookies.map(({ name }) => name)).not.toContain(cookie);
  expect(await subjectsOf({ email, site: idctl })).toEqual([announced]);
});

test('a sign-in from another browser is told once, with when, from where, with what and how; a second one from there is not', async () => {
  const who = await arrived(idctl);
  expect(await lettersOf(who)).toEqual([]);
  const curl = browserAt(idctl, 'curl/8.14.1');
  await login(curl, who.email);
  const [letter, ...more] = await lettersOf(who);
  expect(more).toEqual([]);
  expect(letter?.subject).toBe(announced);
  expect(letter?.text).toContain('A new browser or program signed in to your account at idctl.');
  expect(letter?.text).toMatch(/When: .* UTC\nFrom: 127\.0\.0\.1\nWith: curl\nMethod: password\n/);
  // More than an hour later, only a new browser would be told.
  idctl.wait(2 * hour);
  await login(curl, who.email);
  await logout(curl);
  await login(curl, who.email);
  await login(who.client, who.email);
  expect(await subjectsOf(who)).toEqual([announced]);
});

test('the first sign-in of an account is not told, and one browser can belong to several accounts', async () => {
  const [one, other] = [await arrived(idctl), await person(idctl)];
  const email = other.email ?? '';
  await login(one.client, email);
  await login(one.client, one.email);
  await login(one.client, email);
  expect([await lettersOf(one), await lettersOf({ email, site: idctl })]).toEqual([[], []]);
  expect((await browsersOf(one.id)).map(({ hash }) => hash)).toEqual(
    (await browsersOf(other.id)).map(({ hash }) => hash),
  );
});

test('at most one mail an hour tells of new browsers', async () => {
  const who = await arrived(idctl);
  for (let count = 0; count < 3; count += 1) await login(browserAt(idctl), who.email);
  idctl.wait(hour - 60);
  await login(browserAt(idctl), who.email);
  expect(await subjectsOf(who)).toEqual([announced]);
  idctl.wait(120);
  await login(browserAt(idctl), who.email);
  expect(await subjectsOf(who)).toEqual([announced, announced]);
});

test('twenty parallel sign-ins from a new browser send one mail', async () => {
  const who = await arrived(idctl);
  const stranger = browserAt(idctl);
  stranger.jar.set(cookie, 'A'.repeat(22));
  const clients = Array.from({ length: 20 }, (_, at) => (at % 2 ? stranger : browserAt(idctl)));
  await Promise.all(clients.map((client) => login(client, who.email)));
  expect(await subjectsOf(who)).toEqual([announced]);
  // The ten with one cookie are one browser.
  expect(await browsersOf(who.id)).toHaveLength(1 + 10 + 1);
});

test('a sign-in with a passkey, a code or a login link is told, with its method', async () => {
  const keyed = await arrived(idctl);
  const { held } = await addPasskey(keyed.client);
  // Mails that are sent together may arrive in any order.
  await idctl.deliver();
  const lastTo = async (who: typeof keyed) => (await lettersOf(who)).at(-1)?.text;
  expect((await signInByPasskey(browserAt(idctl), held)).status).toBe(200);
  expect(await lastTo(keyed)).toContain('Method: passkey\n');
  const plain = await arrived(idctl);
  const { url } = await createLoginLink(idctl.operator(), { user: plain.email });
  const { pathname, search } = new URL(url);
  await (await open(browserAt(idctl), pathname + search)).submit('/login/link');
  expect(await lastTo(plain)).toContain('Method: one-time link\n');
  idctl.wait(2 * hour);
  const client = browserAt(idctl);
  await client.post('/api/v1/auth/magic-code', { email: plain.email });
  const given = { email: plain.email, code: await idctl.codeFor(plain.email) };
  expect((await client.post('/api/v1/auth/magic-code/verify', given)).status).toBe(200);
  expect(await lastTo(plain)).toContain('Method: code by mail\n');
});

test('single sign-on is not told, and does not make its browser known: a later sign-in with the password is told', async () => {
  const { domain } = await connected(idctl, provider.issuer);
  const sub = fresh('sub');
  const email = `${sub}@${domain}`;
  provider.people.set(sub, { email, email_verified: true, name: 'Ada Byron' });
  const { id } = await person(idctl, email);
  await login(browserAt(idctl), email);
  const client = browserAt(idctl);
  const callback = await provider.signIn(await start(client, domain), sub);
  expect((await comeBack(client, callback)).status).toBe(200);
  expect(await subjectsOf({ email, site: idctl })).toEqual([]);
  expect(await browsersOf(id)).toHaveLength(1);
  await login(client, email);
  expect(await subjectsOf({ email, site: idctl })).toEqual([announced]);
  expect(await browsersOf(id)).toHaveLength(2);
});

test('a cookie that idctl did not write is replaced', async () => {
  const who = await arrived(idctl);
  for (const value of ['', 'short', `${'A'.repeat(22)}"`, 'A'.repeat(4000)]) {
    const client = browserAt(idctl);
    client.jar.set(cookie, value);
    await login(client, who.email);
    expect(client.jar.get(cookie)).toMatch(/^[\w-]{22}$/);
  }
});

test('idctl knows at most 50 browsers of an account, and forgets those that were used least recently', async () => {
  const who = await arrived(idctl);
  for (let count = 0; count < 49; count += 1) await login(idctl.client(), who.email);
  idctl.wait(2 * day);
  await login(who.client, who.email);
  await idctl.deliver();
  const before = await browsersOf(who.id);
  expect(before).toHaveLength(50);
  await Promise.all(Array.from({ length: 9 }, () => login(browserAt(idctl), who.email)));
  // Parallel sign-ins may exceed the number until the next one.
  await login(browserAt(idctl), who.email);
  const after = await browsersOf(who.id);
  expect(after).toHaveLength(50);
  expect(before.filter(({ hash }) => !after.some((row) => row.hash === hash))).toHaveLength(10);
  idctl.wait(2 * hour);
  const told = (await subjectsOf(who)).length;
  await login(who.client, who.email);
  expect(await subjectsOf(who)).toHaveLength(told);
});

test('a sweep deletes browsers whose cookie has expired, but not the last one of an account', async () => {
  const who = await arrived(idctl);
  await login(browserAt(idctl), who.email);
  const old = new Date(idctl.app.clock().getTime() - 402 * day * 1000);
  const older = new Date(old.getTime() - day * 1000);
  const [last, first] = await browsersOf(who.id);
  await transaction(async () => {
    await last?.update({ lastSeenAt: old });
    await first?.update({ lastSeenAt: older });
  });
  await sweepNow(idctl.as({ kind: 'system', name: 'sweep' }));
  expect((await browsersOf(who.id)).map(({ hash }) => hash)).toEqual([last?.hash]);
  idctl.wait(2 * hour);
  await login(browserAt(idctl), who.email);
  expect(await subjectsOf(who)).toEqual([announced, announced]);
  await transaction(() => Account.destroy({ where: { id: who.id } }));
  expect(await browsersOf(who.id)).toEqual([]);
});
