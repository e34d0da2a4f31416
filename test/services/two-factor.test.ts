import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashOfToken, randomToken } from '../../src/crypto/secret.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { PendingSignIn } from '../../src/database/models/pending-sign-in.ts';
import { SsoAttempt } from '../../src/database/models/sso-attempt.ts';
import { transaction } from '../../src/database/transaction.ts';
import { disableTotp, resetTotp } from '../../src/services/people/two-factor/operations.ts';
import { findPendingReturn } from '../../src/services/signin/pending.ts';
import { fresh, password, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { comeBack, connected, registration, start } from '../support/sso.ts';

let provider: OpenIdProvider;
let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  const redirect = `${idctl.baseUrl}/auth/sso/callback`;
  provider = await startOpenIdProvider({
    clients: [
      {
        client_id: registration.clientId,
        client_secret: registration.clientSecret,
        redirect_uris: [redirect],
      },
    ],
  });
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

/** The code of a secret, `ahead` seconds from the instance's now. */
function codeOf(secret: string, ahead = 0): string {
  return generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) + ahead });
}

/** Creates a person with the second factor on, and waits until the code of the setup expires. */
async function enrolled(email?: string) {
  const account = await person(idctl, email);
  const client = await signedIn(idctl, account.email);
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  await client.post('/api/v1/me/totp/confirm', { code: codeOf(secret) });
  idctl.wait(60);
  return { account, client, secret, email: account.email };
}

const login = (email: string | null, more = {}) =>
  idctl.client().post('/api/v1/auth/login', { email, password, ...more });
const required = {
  status: 401,
  body: { code: 'second_factor_required', methods: ['totp', 'recovery'] },
  cookies: [],
};
const invalid = { status: 401, body: { code: 'second_factor_invalid' }, cookies: [] };

test('§3.4 setup returns a new secret and URI; a current code enables the second factor, and /me shows it', async () => {
  const account = await person(idctl);
  const client = await signedIn(idctl, account.email);
  const started = await client.post('/api/v1/me/totp');
  expect(started).toMatchObject({
    status: 201,
    body: { secret: expect.stringMatching(/^[A-Z2-7]{32}$/) },
  });
  expect(started.body.otpauthUri).toContain(`secret=${started.body.secret}`);
  expect((await client.get('/api/v1/me')).body.twoFactorEnabled).toBe(false);
  expect((await login(account.email)).status).toBe(200);
  expect(await client.post('/api/v1/me/totp/confirm', { code: '000000' })).toMatchObject(invalid);
  const confirmed = await client.post('/api/v1/me/totp/confirm', {
    code: codeOf(started.body.secret),
  });
  expect(confirmed).toMatchObject({ status: 200, body: { twoFactorEnabled: true } });
  expect((await client.get('/api/v1/me')).body.twoFactorEnabled).toBe(true);
  expect(await client.post('/api/v1/me/totp')).toMatchObject({ status: 409 });
});

test('§3.4 an unconfirmed setup expires after 15 minutes; starting again replaces the secret', async () => {
  const client = await signedIn(idctl, (await person(idctl)).email);
  const first = (await client.post('/api/v1/me/totp')).body.secret;
  const second = (await client.post('/api/v1/me/totp')).body.secret;
  expect(await client.post('/api/v1/me/totp/confirm', { code: codeOf(first) })).toMatchObject(
    invalid,
  );
  idctl.wait(14 * 60);
  await client.post('/api/v1/auth/refresh');
  idctl.wait(61);
  const late = await client.post('/api/v1/me/totp/confirm', { code: codeOf(second) });
  expect(late).toMatchObject({ status: 409, body: { code: 'conflict' } });
});

test('P12 the code that enabled the second factor does not sign in', async () => {
  const { email } = await person(idctl);
  const client = await signedIn(idctl, email);
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  const code = codeOf(secret);
  expect((await client.post('/api/v1/me/totp/confirm', { code })).status).toBe(200);
  expect(await login(email, { totpCode: code })).toMatchObject(invalid);
  idctl.wait(60);
  expect((await login(email, { totpCode: codeOf(secret) })).status).toBe(200);
});

test('§5.3 with the second factor on, login does not complete without a valid code, and says that it needs one', async () => {
  const { email, secret } = await enrolled();
  expect(await login(email)).toMatchObject(required);
  expect(await login(email, { totpCode: '000000' })).toMatchObject(invalid);
  expect(await login(email, { totpCode: codeOf(secret, -60) })).toMatchObject(invalid);
  const wrong = await idctl.client().post('/api/v1/auth/login', {
    email,
    password: 'wrong horse battery',
    totpCode: codeOf(secret),
  });
  expect(wrong).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  // The code before the current one is right until the step of 30 seconds ends.
  idctl.wait(30 - ((idctl.app.clock().getTime() / 1000) % 30));
  expect((await login(email, { totpCode: codeOf(secret, -30) })).status).toBe(200);
  expect((await login(email, { totpCode: codeOf(secret, 30) })).status).toBe(200);
});

test('P12 the same code used twenty times at once begins one session', async () => {
  const { email, secret } = await enrolled();
  const totpCode = codeOf(secret);
  const answers = await Promise.all(Array.from({ length: 20 }, () => login(email, { totpCode })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await login(email, { totpCode })).not.toMatchObject({ status: 200 });
});

test('P12 a code that began a session does not disable the second factor; the next code does', async () => {
  const { email, client, secret } = await enrolled();
  await client.post('/api/v1/auth/refresh');
  const disable = (code: string) => client.post('/api/v1/me/totp/disable', { code });
  const code = codeOf(secret);
  expect((await login(email, { totpCode: code })).status).toBe(200);
  expect(await disable(code)).toMatchObject(invalid);
  expect((await disable(codeOf(secret, 30))).status).toBe(204);
});

test('P12 after five wrong codes in 15 minutes, over all endpoints, even a right code is refused', async () => {
  const { email, client, secret } = await enrolled();
  await client.post('/api/v1/auth/refresh');
  const wrong = ['000000', '000001', '000002'];
  for (const totpCode of wrong) expect(await login(email, { totpCode })).toMatchObject(invalid);
  for (const code of ['000003', '000004']) {
    expect(await client.post('/api/v1/me/totp/disable', { code })).toMatchObject(invalid);
  }
  const full = { status: 429, body: { code: 'too_many_requests' } };
  expect(await login(email, { totpCode: codeOf(secret) })).toMatchObject(full);
  const refused = await client.post('/api/v1/me/totp/disable', { code: codeOf(secret) });
  expect(refused).toMatchObject(full);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(600);
  idctl.wait(901);
  expect((await login(email, { totpCode: codeOf(secret) })).status).toBe(200);
});

test('P12 right codes do not count towards the limit', async () => {
  const { email, secret } = await enrolled();
  for (let times = 0; times < 7; times += 1) {
    expect((await login(email, { totpCode: codeOf(secret) })).status).toBe(200);
    idctl.wait(30);
  }
});

test('P12 the secret is sealed at rest', async () => {
  const { account, secret } = await enrolled();
  const row = await Account.findByPk(account.id, { rejectOnEmpty: true });
  expect(JSON.stringify(row)).not.toContain(secret);
});

test('§3.4 a current code disables the second factor and deletes the secret; a new setup has a new secret', async () => {
  const { account, email, client, secret } = await enrolled();
  await client.post('/api/v1/auth/refresh');
  expect(await client.post('/api/v1/me/totp/disable', { code: '000000' })).toMatchObject(invalid);
  expect((await client.post('/api/v1/me/totp/disable', { code: codeOf(secret) })).status).toBe(204);
  const row = await Account.findByPk(account.id, { rejectOnEmpty: true });
  expect(row).toMatchObject({ totpSecret: null, totpEnabledAt: null, totpLastStep: null });
  expect((await login(email)).status).toBe(200);
  expect((await client.post('/api/v1/me/totp')).body.secret).not.toBe(secret);
});

test('P12 the operator resets the second factor of a person who lost the authenticator', async () => {
  const { account, email } = await enrolled();
  const reset = () => resetTotp(idctl.operator(), { user: account.id, passkeys: false });
  expect(await reset()).toMatchObject({ twoFactorEnabled: false, authenticatorRemoved: true });
  await expect(reset()).rejects.toMatchObject({ code: 'conflict' });
  expect((await login(email)).status).toBe(200);
  const events = await Event.findAll({ where: { kind: 'user.totp.reset' }, raw: true });
  expect(events.filter(({ subject }) => JSON.stringify(subject).includes(account.id))).toHaveLength(
    1,
  );
});

test.each([{ code: '12345' }, { code: 123456 }, { code: ['123456'] }, {}])(
  'the refusal of the input %j names the field code',
  async (body) => {
    const client = await signedIn(idctl, (await person(idctl)).email);
    const answer = await client.post('/api/v1/me/totp/confirm', body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'code' }] } });
  },
);

async function arriving(requireLocalTwoFactor: boolean) {
  const { domain } = await connected(idctl, provider.issuer, { requireLocalTwoFactor });
  const someone = await enrolled(`${fresh('ada')}@${domain}`);
  const sub = fresh('sub');
  const name = 'x'.repeat(50_000);
  provider.people.set(sub, { email: someone.email ?? '', email_verified: true, name });
  const browser = idctl.client({ keepCookies: true });
  const callback = await provider.signIn(await start(browser, domain), sub);
  return { ...someone, browser, answer: await comeBack(browser, callback) };
}

test('P12 single sign-on without requireLocalTwoFactor asks for no second factor', async () => {
  expect((await arriving(false)).answer.status).toBe(200);
});

test('P12 with requireLocalTwoFactor, the sign-in waits for a code, and only a cookie identifies it', async () => {
  const { browser, answer, secret, account } = await arriving(true);
  expect(answer).toMatchObject({
    status: 401,
    body: { code: 'second_factor_required', methods: ['totp', 'recovery'] },
  });
  const [cookie, ...more] = answer.cookies;
  expect(more).toEqual([]);
  expect(cookie).toMatchObject({
    name: 'second_factor',
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    maxAge: 300,
  });
  expect(JSON.stringify(answer.body)).not.toContain(cookie?.value);
  // The waiting sign-in does not store unused claims of the provider.
  const waiting = await PendingSignIn.findOne({
    where: { accountId: account.id },
    rejectOnEmpty: true,
  });
  expect(JSON.stringify(waiting.payload).length).toBeLessThan(2000);
  const wrong = await browser.post('/api/v1/auth/second-factor', { totpCode: '000000' });
  expect(wrong).toMatchObject(invalid);
  const done = await browser.post('/api/v1/auth/second-factor', { totpCode: codeOf(secret) });
  expect(done).toMatchObject({ status: 200, body: { user: { id: account.id } } });
  expect((await browser.get('/api/v1/me')).status).toBe(200);
  expect(browser.jar.has('second_factor')).toBe(false);
  const attempts = await SsoAttempt.findAll({ where: { email: account.email }, order: ['id'] });
  expect(attempts).toMatchObject([
    { ok: false, stage: 'session', code: 'second_factor_required' },
    { ok: true, stage: 'session', code: null },
  ]);
});

test('P12 a waiting sign-in can be completed once, by its browser, within five minutes', async () => {
  const { browser, answer, secret } = await arriving(true);
  const pending = { cookie: `second_factor=${answer.cookies[0]?.value}` };
  const nobody = await idctl
    .client()
    .post('/api/v1/auth/second-factor', { totpCode: codeOf(secret) });
  expect(nobody).toMatchObject({ status: 401, body: { code: 'invalid_credential' } });
  expect(
    (await browser.post('/api/v1/auth/second-factor', { totpCode: codeOf(secret) })).status,
  ).toBe(200);
  idctl.wait(30);
  const again = await idctl
    .client()
    .post('/api/v1/auth/second-factor', { totpCode: codeOf(secret) }, pending);
  expect(again).toMatchObject({ status: 401, body: { code: 'invalid_credential' } });
  const late = await arriving(true);
  idctl.wait(301);
  expect(
    (await late.browser.post('/api/v1/auth/second-factor', { totpCode: codeOf(late.secret) }))
      .status,
  ).toBe(401);
});

test.each([
  ['password', { checked: 'x', returnTo: '/there' }, '/there'],
  ['ldap', { connection: { id: 'x', settings: 'y' }, person: {}, returnTo: '/there' }, '/there'],
  ['sso', { state: { returnTo: '/there' }, said: {} }, '/there'],
  ['social', { state: { returnTo: '/there' }, person: {} }, '/there'],
  ['loginLink', {}, '/'],
])(
  'a sign-in by %s that an earlier release has stored can still be continued',
  async (by, proof, returnTo) => {
    const { id: accountId } = await person(idctl);
    const token = randomToken(256);
    const expiresAt = new Date(idctl.app.clock().getTime() + 60_000);
    const row = { id: hashOfToken(token), accountId, payload: { by, ...proof }, expiresAt };
    await transaction(() => PendingSignIn.create(row));
    expect(await findPendingReturn(idctl.operator(), token)).toBe(returnTo);
  },
);

test('S6 a waiting sign-in is refused if its connection is disabled meanwhile', async () => {
  const { browser, secret } = await arriving(true);
  const { SsoConnection } = await import('../../src/database/models/sso-connection.ts');
  const { transaction } = await import('../../src/database/transaction.ts');
  await transaction(() =>
    SsoConnection.update({ enabled: false }, { where: { requireLocalTwoFactor: true } }),
  );
  const refused = await browser.post('/api/v1/auth/second-factor', { totpCode: codeOf(secret) });
  expect(refused).toMatchObject({ status: 401, body: { code: 'signin_failed' }, cookies: [] });
});

test('P12 a dry run of disabling the second factor gives the same answer for right and wrong codes', async () => {
  const { account, secret } = await enrolled();
  const rehearsed = (code: string) =>
    idctl.app.rehearse(() => disableTotp.forOperator(idctl.operator(), { user: account.id, code }));
  const off = { twoFactorEnabled: false };
  expect(await rehearsed('000000')).toEqual(off);
  expect(await rehearsed(codeOf(secret))).toEqual(off);
  const { totpEnabledAt } = await Account.findByPk(account.id, { rejectOnEmpty: true });
  expect(totpEnabledAt).not.toBeNull();
});
