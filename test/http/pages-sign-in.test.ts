import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import argon2 from 'argon2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Counter } from '../../src/database/models/counter.ts';
import { Event } from '../../src/database/models/event.ts';
import { PendingSignIn } from '../../src/database/models/pending-sign-in.ts';
import { transaction } from '../../src/database/transaction.ts';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { saveSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { fresh, organization, password, person, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import type { Client } from '../support/http.ts';
import { joined, settingsFor } from '../support/ldap.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { type Opened, open } from '../support/pages.ts';
import { directoryPassword, type Slapd, startSlapd } from '../support/slapd.ts';
import { comeBack, connected, registration } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

// Tests the pages beyond the usual flows, which test/e2e/pages.test.ts runs in Chromium.

const logo = join(tmpdir(), `${fresh('logo')}.svg`);
const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1v1z"/></svg>';

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  await writeFile(logo, drawing);
  idctl = await openMailingIdctl({
    instance: { name: 'Acme <Identity>', logo },
    outbound: { allow: ['127.0.0.1'] },
    signin: { magicCode: 'on' },
    signup: { open: 'on' },
    limits: { addressFailures: 1_000_000, codeSends: 1_000_000 },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl.close();
  await provider.stop();
  await rm(logo);
});

const browser = () => idctl.client({ keepCookies: true });
const at = (client: Client, path: string, query: Record<string, string>) =>
  open(client, `${path}?${new URLSearchParams(query)}`);

/** Enters the password of an address, in a browser. */
async function withPassword(
  client: Client,
  identifier: string | null,
  given = password,
  more = {},
): Promise<Opened> {
  const screen = await at(client, '/login', { identifier: identifier ?? '', ...more });
  return screen.submit('/login/password', { password: given });
}

/** The code in two groups of digits, as authenticator apps show it. */
const asShown = (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`;
const isIn = ({ status, text }: Opened) => status === 200 && text.includes('Sign out');

describe('P12 the second factor', () => {
  test('P12 the page asks for the code after the password, and no page, row or cookie keeps the password', async () => {
    const { account, code } = await enrolled(idctl);
    const client = browser();
    const asked = await withPassword(client, account.email, password, { returnTo: '/api/v1/me' });
    expect(asked.text).toContain('Enter the six digits that your authenticator app shows now.');
    const rows = JSON.stringify(await PendingSignIn.findAll({ raw: true }));
    const found = await Account.findByPk(account.id, { rejectOnEmpty: true });
    for (const seen of [asked.body, rows, ...client.jar.values()]) {
      expect(seen).not.toContain(password);
      expect(seen).not.toContain(found.passwordHash);
    }
    const wrong = await asked.submit('/login/code', { totpCode: '000000' });
    expect([wrong.status, wrong.text]).toEqual([
      401,
      expect.stringContaining('This code is wrong'),
    ]);
    const right = await wrong.submit('/login/code', { totpCode: asShown(code()) });
    expect([right.status, right.body.email]).toEqual([200, account.email]);
    expect(client.jar.has('second_factor')).toBe(false);
  });

  test('P12 the code alone completes the sign-in for five minutes, once, and not after a password change', async () => {
    const { account, code } = await enrolled(idctl);
    const late = await withPassword(browser(), account.email);
    idctl.wait(301);
    const refused = await late.submit('/login/code', { totpCode: code() });
    expect([refused.status, refused.text]).toEqual([
      401,
      expect.stringContaining('This sign-in has expired.'),
    ]);
    const client = browser();
    const asked = await withPassword(client, account.email);
    const cookie = `second_factor=${client.jar.get('second_factor')}`;
    const stale = await withPassword(browser(), account.email);
    expect(isIn(await asked.submit('/login/code', { totpCode: code() }))).toBe(true);
    idctl.wait(60);
    const again = await idctl
      .client()
      .post('/api/v1/auth/second-factor', { totpCode: code() }, { cookie });
    expect([again.status, again.body.code]).toEqual([401, 'invalid_credential']);
    await setUserPassword(idctl.operator(), {
      user: account.id,
      password: 'a staple of another kind',
    });
    const changed = await stale.submit('/login/code', { totpCode: code() });
    expect([changed.status, changed.text]).toEqual([
      401,
      expect.stringContaining('Sign in again.'),
    ]);
    expect((await open(browser(), '/login/code')).text).toContain(
      'E-mail address or company domain',
    );
  });

  test('P12 a mailed code and a password reset need the second factor too; the mailed code is spent only with it', async () => {
    const { account, code } = await enrolled(idctl);
    const email = account.email ?? '';
    const sent = await (await at(browser(), '/login', { identifier: email })).submit(
      '/login/mail-code',
    );
    const asked = await sent.submit('/login/mail-code/enter', { code: await idctl.codeFor(email) });
    expect([asked.status, asked.text]).toEqual([
      401,
      expect.stringContaining('Six-digit code from your authenticator app'),
    ]);
    expect(isIn(await asked.submit('/login/mail-code/enter', { totpCode: asShown(code()) }))).toBe(
      true,
    );
    idctl.wait(60);
    const reset = await (await at(browser(), '/login/reset', { identifier: email })).submit(
      '/login/reset',
      {
        email,
      },
    );
    const newPassword = 'a staple of another kind';
    const more = await reset.submit('/login/reset/confirm', {
      code: await idctl.codeFor(email),
      newPassword,
    });
    expect([more.status, more.body.includes(newPassword)]).toEqual([401, false]);
    const done = await more.submit('/login/reset/confirm', { newPassword, totpCode: code() });
    expect(done.text).toContain('Your password was changed. Sign in with the new one.');
    expect(await done.submit('/login/password', { password: newPassword })).toMatchObject({
      text: expect.stringContaining('Second factor'),
    });
    expect((await withPassword(browser(), email, newPassword)).text).toContain('Second factor');
  });

  test('P6 P8 a sign-in in two steps also strengthens the password hash and remembers the client', async () => {
    const { account, code } = await enrolled(idctl);
    const hash = await argon2.hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
    await transaction(async () => {
      await Account.update({ passwordHash: hash }, { where: { id: account.id } });
      await Counter.destroy({ where: {} });
    });
    const asked = await withPassword(browser(), account.email);
    expect(isIn(await asked.submit('/login/code', { totpCode: code() }))).toBe(true);
    const { passwordHash } = await Account.findByPk(account.id, { rejectOnEmpty: true });
    const kept = (await Counter.findAll()).filter(
      ({ beganAt, expiresAt }) => expiresAt - beganAt > 29 * 86_400,
    );
    // One row is for the account and network together, one for the network (P8).
    expect(kept).toHaveLength(2);
    expect([hash, passwordHash]).toEqual([
      expect.stringContaining('m=8,'),
      expect.stringContaining('m=19456,'),
    ]);
  });

  test('P12 if a connection requires idctl’s second factor, the browser goes to the sign-in’s returnTo after the code', async () => {
    const { domain } = await connected(idctl, provider.issuer, { requireLocalTwoFactor: true });
    const { account, code } = await enrolled(idctl, `ada@${domain}`);
    const sub = fresh('sub');
    provider.people.set(sub, { email: account.email ?? '', email_verified: true });
    const client = browser();
    const start = `/auth/sso/start?domain=${domain}&returnTo=${encodeURIComponent('/login?done=signed-out')}`;
    const { headers } = await client.get(start, { accept: 'text/html' });
    const callback = await provider.signIn(String(headers['location']), sub);
    const held = await comeBack(client, callback, { accept: 'text/html' });
    expect([held.status, held.headers['location']]).toEqual([303, '/login/code']);
    const asked = await open(client, '/login/code');
    const token = /name="token" value="([^"]+)"/.exec(asked.body)?.[1] ?? '';
    const answer = await client.form('/login/code', { token, totpCode: code() });
    expect([answer.status, answer.headers['location']]).toEqual([303, '/login?done=signed-out']);
    expect(isIn(await open(client, '/'))).toBe(true);
  });
});

test('P7 the pages are the same for an address with an account and an address without', async () => {
  const known = (await person(idctl)).email ?? '';
  const unknown = `${fresh('nobody')}@example.test`;
  const seen = async (email: string) => {
    const client = browser();
    const screen = await at(client, '/login', { identifier: email });
    const reset = await at(client, '/login/reset', { identifier: email });
    const signUp = await at(client, '/login/signup', { identifier: email });
    const answers = [
      screen,
      await screen.submit('/login/password', { password: 'not the password' }),
      await screen.submit('/login/mail-code'),
      await (await screen.submit('/login/mail-code')).submit('/login/mail-code/enter', {
        code: '000000',
      }),
      await reset.submit('/login/reset', { email }),
      await signUp.submit('/login/signup', { email, name: 'Ada', password }),
      await (await at(client, '/login/verify', { identifier: email })).submit(
        '/login/verify/resend',
      ),
    ];
    return answers.map(({ status, body }) => [
      status,
      String(body)
        .replaceAll(email, '')
        .replaceAll(encodeURIComponent(email), '')
        .replace(/value="[\w-]{55}"/g, '')
        .replace(/Reference: <code>[\w-]{36}</g, ''),
    ]);
  };
  expect(await seen(known)).toEqual(await seen(unknown));
});

test('X5 the page of a failed sign-in shows a reference, which the event keeps', async () => {
  const { email, id } = await person(idctl);
  const answer = await withPassword(browser(), email, 'not the password');
  const [, reference] = /Reference: ([\w-]{36})/.exec(answer.text) ?? [];
  expect(reference).toBe(answer.headers['x-request-id']);
  const [event] = await Event.findAll({
    where: { kind: 'signin.refused' },
    order: [['id', 'DESC']],
    limit: 1,
  });
  expect(event).toMatchObject({ subject: { id }, data: { references: [reference] } });
  expect((await at(browser(), '/login', { identifier: 'x y' })).text).not.toContain('Reference');
});

test('P7 P11 after a failed sign-in, the page offers to confirm the address, whether or not a sign-up waits', async () => {
  const [unconfirmed, unknown] = [
    `${fresh('new')}@example.test`,
    `${fresh('nobody')}@example.test`,
  ];
  const newcomer = browser();
  const asked = await (await open(newcomer, '/login/signup')).submit('/login/signup', {
    email: unconfirmed,
    name: 'New',
    password,
  });
  expect(asked.text).toContain('Confirm your address');
  await idctl.deliver();
  for (const email of [unconfirmed, (await person(idctl)).email ?? '', unknown]) {
    const given = email === unconfirmed ? password : 'not the password';
    const { status, text, body } = await withPassword(browser(), email, given);
    expect([status, text]).toEqual([
      401,
      expect.stringContaining('Wrong e-mail or password. Reference:'),
    ]);
    expect(body).toContain(`href="/login/verify?${new URLSearchParams({ identifier: email })}"`);
  }
  const code = await idctl.codeFor(unconfirmed);
  const screen = await at(newcomer, '/login/verify', { identifier: unconfirmed });
  expect(isIn(await screen.submit('/login/verify', { code }))).toBe(true);
  expect(isIn(await withPassword(browser(), unconfirmed))).toBe(true);
});

test('P11 a link cannot make a page say that a password is missing or was changed', async () => {
  const { email } = await person(idctl);
  const client = browser();
  await withPassword(client, email);
  const foreign = `${fresh('mallory')}@example.test`;
  for (const [who, identifier] of [
    [browser(), foreign],
    [client, foreign],
    [client, email ?? ''],
  ] as const) {
    const { status, text } = await at(who, '/login/reset', { identifier, done: 'confirmed' });
    expect([status, text]).toEqual([200, expect.stringContaining('Forgot password?')]);
    expect(text).not.toMatch(/signed in|void/);
  }
  const { text } = await at(browser(), '/login', { done: 'new-password' });
  expect(text).not.toContain('was changed');
});

test('O1 a method that the organization switched off is not offered, and a form opened before is refused', async () => {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const { email } = await person(idctl, `ada@${domain}`);
  const client = browser();
  const before = await at(client, '/login', { identifier: email ?? '' });
  await saveSignInSettings(idctl.operator(), { org: org.slug, password: false, magicCode: true });
  const refused = await before.submit('/login/password', { password });
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining('Signing in with a password is switched off for this address.'),
  ]);
  expect(refused.body).not.toContain('action="/login/password"');
  expect(refused.body).toContain('action="/login/mail-code"');
});

test('O4 the operator’s link signs in once; after that, the sign-in page says that it was used', async () => {
  const { email } = await person(idctl);
  const { url } = await createLoginLink(idctl.operator(), { user: email ?? '' });
  const link = url.slice(idctl.baseUrl.length);
  const late = await open(browser(), link);
  expect(isIn(await (await open(browser(), link)).submit('/login/link'))).toBe(true);
  for (const again of [await open(browser(), link), await late.submit('/login/link')]) {
    expect([again.status, again.text]).toEqual([
      401,
      expect.stringContaining('has already been used'),
    ]);
    expect(again.text).toContain('Ask the operator for a new link.');
    expect(again.body).toContain('name="identifier"');
  }
});

describe('O6 an invitation', () => {
  const invited = async () => {
    const org = await organization(idctl);
    const email = `${fresh('guest')}@example.test`;
    const { url } = await createInvitation(idctl.operator(), {
      org: org.slug,
      email,
      role: 'member',
    });
    return { org, email, link: url.slice(idctl.baseUrl.length) };
  };

  test('O6 makes the person who signs up with it a member', async () => {
    const { org, email, link } = await invited();
    const client = browser();
    const page = await open(client, link);
    expect(page.text).toContain(`Join ${org.name}`);
    const signUp =
      /href="(\/login\/signup[^"]+)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const asked = await (await open(client, signUp)).submit('/login/signup', {
      email,
      name: 'Guest',
      password,
    });
    await idctl.deliver();
    const arrived = await asked.submit('/login/verify', { code: await idctl.codeFor(email) });
    expect(arrived.text).toContain(`${org.name} member`);
  });

  test('O6 works for its address only, and once', async () => {
    const { email, link } = await invited();
    const { email: other } = await person(idctl);
    const client = browser();
    await withPassword(client, other);
    const page = await open(client, link);
    expect(page.text).toContain(
      `You are signed in as ${other}. Sign out, then open the link again.`,
    );
    await person(idctl, email);
    const guest = browser();
    await withPassword(guest, email);
    const accepting = await open(guest, link);
    expect((await accepting.submit('/account/invitation')).text).toContain(
      'You have joined the organization.',
    );
    expect((await open(guest, link)).text).toContain('This invitation is invalid or has expired.');
  });
});

describe.skipIf(counterpartMissing('slapd'))('§4.2 a directory', () => {
  let slapd: Slapd;
  beforeAll(async () => {
    slapd = await startSlapd();
  });
  afterAll(() => slapd?.stop());

  test('§4.2 is offered for an address, or for the company’s domain and a user name', async () => {
    const { domain } = await joined(idctl, settingsFor(slapd));
    const uid = fresh('uid');
    await slapd.person(uid, { mail: `${uid}@${domain}`, givenName: 'Grace' });
    const enter = async (path: string, username: string, given = directoryPassword) =>
      (await open(browser(), path)).submit('/login/directory', { username, password: given });
    expect(isIn(await enter(`/login?identifier=${domain}`, uid))).toBe(true);
    expect(isIn(await enter(`/login?identifier=someone@${domain}`, uid))).toBe(true);
    const wrong = await enter(`/login?identifier=${domain}`, uid, 'not the password');
    expect([wrong.status, wrong.text]).toEqual([
      401,
      expect.stringContaining(
        'Wrong user name or password. If both are right, ask your administrator.',
      ),
    ]);
    expect(wrong.body).toContain(`value="${uid}"`);
    const page = await at(browser(), '/login', { identifier: `someone@${domain}` });
    expect([page.body.includes('action="/login/password"'), page.text]).toEqual([
      false,
      expect.stringContaining('Use your Acme &lt;Identity&gt; password instead'),
    ]);
    const ada = await enrolled(idctl, `${fresh('ada')}@${domain}`);
    await slapd.person('ada2', { mail: ada.account.email ?? '' });
    const held = await enter(`/login?identifier=${domain}`, 'ada2');
    expect(held.text).toContain('Second factor');
    expect(isIn(await held.submit('/login/code', { totpCode: ada.code() }))).toBe(true);
    // With a second directory, the domain decides which directory is asked.
    await joined(idctl, settingsFor(slapd));
    expect(isIn(await enter(`/login?identifier=${domain}`, uid))).toBe(true);
    expect((await open(browser(), '/login')).body).not.toContain('/login/directory');
  });
});

test('pages escape the name of the instance, and its logo cannot run scripts', async () => {
  const client = browser();
  const { body } = await open(client, '/login');
  expect(body).toContain('<title>Sign in · Acme &lt;Identity&gt;</title>');
  expect(body).toContain('<img src="/login/logo" alt="Acme &lt;Identity&gt;">');
  const answer = await client.get('/login/logo');
  expect([answer.status, answer.body]).toEqual([200, drawing]);
  expect(answer.headers).toMatchObject({
    'content-type': expect.stringMatching(/^image\/svg\+xml/),
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  });
});

test('a page refuses methods other than its own', async () => {
  for (const [method, path, allow] of [
    ['PUT', '/login', 'GET, HEAD'],
    ['DELETE', '/', 'GET, HEAD'],
    ['PATCH', '/account/profile', 'POST'],
  ] as const) {
    const answer = await browser().send(method, path);
    expect([path, answer.status, answer.headers['allow']]).toEqual([path, 405, allow]);
  }
  expect((await open(browser(), '/login/password')).text).toContain(
    'E-mail address or company domain',
  );
});
