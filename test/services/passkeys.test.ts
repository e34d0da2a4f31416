import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resetTotp } from '../../src/services/people/two-factor/operations.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { password, person, signedIn } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { open } from '../support/pages.ts';
import {
  addPasskey,
  answerTo,
  optionsIn,
  passkeySite,
  personWithPasskey,
  signInByPasskey,
} from '../support/passkeys.ts';

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({ baseUrl: passkeySite, signin: { magicCode: 'on' } });
});
afterAll(() => idctl.close());

const browser = () => idctl.client({ keepCookies: true });

test('adding a passkey sends a mail; an older session can rename but not remove the passkey', async () => {
  const { email } = await person(idctl);
  const client = await signedIn(idctl, email);
  expect((await client.get('/api/v1/me')).body.twoFactorEnabled).toBe(false);
  const { answer } = await addPasskey(client, {}, { name: 'Laptop' });
  expect(answer).toMatchObject({
    status: 201,
    body: { name: 'Laptop', lastUsedAt: null, backedUp: false, signsIn: true },
  });
  const path = `/api/v1/me/passkeys/${answer.body.id}`;
  expect((await client.send('PATCH', path, { body: { name: 'Old laptop' } })).body.name).toBe(
    'Old laptop',
  );
  expect((await client.get('/api/v1/me/passkeys')).body.items).toMatchObject([
    { name: 'Old laptop' },
  ]);
  expect((await client.get('/api/v1/me')).body.twoFactorEnabled).toBe(true);
  // Ten minutes later, this session must prove the second factor again.
  idctl.wait(11 * 60);
  const refused = await client.send('DELETE', path);
  expect(refused).toMatchObject({ status: 403, body: { code: 'recent_sign_in_required' } });
  expect(await client.get('/api/v1/me/passkeys/none')).toMatchObject({ status: 405 });
  const subjects = (await idctl.lettersTo(email ?? '')).map(({ subject }) => subject);
  expect(subjects).toEqual(['A passkey was added - idctl']);
});

test('a passkey signs in alone; its session has both factors, and can remove the passkey, which sends a mail', async () => {
  const { account, held, passkey } = await personWithPasskey(idctl);
  // Mails that are sent together may arrive in any order.
  await idctl.deliver();
  const client = browser();
  const answer = await signInByPasskey(client, held);
  await idctl.deliver();
  expect(answer).toMatchObject({ status: 200, body: { user: { id: account.id } } });
  const sessions = (await client.get('/api/v1/me/sessions')).body.items;
  expect(sessions.map(({ method }: { method: string }) => method)).toContain('passkey');
  const made = await client.post('/api/v1/me/tokens', { name: 'all', scope: 'admin' });
  expect(made).toMatchObject({ status: 201 });
  await idctl.deliver();
  const removed = await client.send('DELETE', `/api/v1/me/passkeys/${passkey}`);
  expect(removed).toMatchObject({ status: 204 });
  expect((await client.get('/api/v1/me')).body.twoFactorEnabled).toBe(false);
  const subjects = (await idctl.lettersTo(account.email ?? '')).map(({ subject }) => subject);
  expect(subjects).toEqual([
    'A passkey was added - idctl',
    'Sign-in from a new browser - idctl',
    'A token with scope admin was created - idctl',
    'A passkey was removed - idctl',
  ]);
});

test('P12 a passkey is the second factor for a password, a mailed code and a password reset', async () => {
  const { account, held } = await personWithPasskey(idctl);
  const { email } = account;
  const client = browser();
  const asked = await client.post('/api/v1/auth/login', { email, password });
  expect(asked).toMatchObject({
    status: 401,
    body: {
      code: 'second_factor_required',
      methods: ['passkey', 'recovery'],
      passkeyOptions: { rpId: 'id.example.test', allowCredentials: [{ id: held.id }] },
    },
  });
  const passkey = answerTo(asked, held, { flags: { uv: false } });
  expect(await client.post('/api/v1/auth/login', { email, password, passkey })).toMatchObject({
    status: 200,
  });
  await client.post('/api/v1/auth/magic-code', { email });
  const code = await idctl.codeFor(email ?? '');
  const verify = '/api/v1/auth/magic-code/verify';
  const again = await client.post(verify, { email, code });
  expect(again.body).toMatchObject({
    code: 'second_factor_required',
    methods: ['passkey', 'recovery'],
  });
  const proof = { passkey: answerTo(again, held) };
  expect(await client.post(verify, { email, code, ...proof })).toMatchObject({ status: 200 });
  await client.post('/api/v1/auth/password/reset', { email });
  const reset = { email, code: await idctl.codeFor(email ?? ''), newPassword: 'a new staple here' };
  const confirm = '/api/v1/auth/password/reset/confirm';
  const third = await client.post(confirm, reset);
  expect(third.body.methods).toEqual(['passkey', 'recovery']);
  const last = { ...reset, passkey: answerTo(third, held) };
  expect(await client.post(confirm, last)).toMatchObject({ status: 204 });
});

test('P12 a passkey completes a sign-in in two steps, with the cookie of the first step', async () => {
  const { account, held } = await personWithPasskey(idctl);
  const { url } = await createLoginLink(idctl.operator(), { user: account.id });
  const client = browser();
  await (await open(client, url.slice(passkeySite.length))).submit('/login/link');
  const options = optionsIn(await client.get('/login/code'));
  const passkey = answerTo(options ?? { body: {} }, held);
  expect(await client.post('/api/v1/auth/second-factor', { passkey })).toMatchObject({
    status: 200,
    body: { user: { id: account.id } },
  });
});

test('a sign-in accepts either the authenticator app or a passkey; an operator removes each separately', async () => {
  const { account, held } = await personWithPasskey(idctl);
  const own = browser();
  expect((await signInByPasskey(own, held)).status).toBe(200);
  const { secret } = (await own.post('/api/v1/me/totp')).body;
  const codeOf = (ahead = 0) =>
    generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) + ahead });
  await own.post('/api/v1/me/totp/confirm', { code: codeOf() });
  const given = { email: account.email, password };
  const client = browser();
  const asked = await client.post('/api/v1/auth/login', given);
  expect(asked.body.methods).toEqual(['totp', 'passkey', 'recovery']);
  const passkey = answerTo(asked, held);
  expect(await client.post('/api/v1/auth/login', { ...given, passkey })).toMatchObject({
    status: 200,
  });
  const byCode = { ...given, totpCode: codeOf(30) };
  expect(await client.post('/api/v1/auth/login', byCode)).toMatchObject({ status: 200 });
  const reset = (passkeys: boolean) => resetTotp(idctl.operator(), { user: account.id, passkeys });
  expect(await reset(false)).toMatchObject({ authenticatorRemoved: true, passkeysLeft: 1 });
  await expect(reset(false)).rejects.toMatchObject({
    message: `${account.email} has no authenticator app. Nothing was changed.`,
    hint: 'The second factor is a passkey. To remove all passkeys, add --passkeys.',
  });
  expect(await reset(true)).toMatchObject({ authenticatorRemoved: false, passkeysRemoved: 1 });
  expect(await client.post('/api/v1/auth/login', given)).toMatchObject({
    status: 200,
    body: { user: { twoFactorEnabled: false } },
  });
});

test('POST /auth/confirm makes a session recent: by password, or by passkey if the account has one', async () => {
  const { email } = await person(idctl);
  const client = await signedIn(idctl, email);
  idctl.wait(11 * 60);
  const refused = (await addPasskey(client)).answer;
  expect(refused).toMatchObject({
    status: 403,
    body: { code: 'recent_sign_in_required', methods: ['password'] },
  });
  const confirm = (body: object) => client.post('/api/v1/auth/confirm', body);
  expect(await confirm({ password: 'not the password' })).toMatchObject({ status: 400 });
  expect(await confirm({ password })).toMatchObject({ status: 204 });
  const { answer, held } = await addPasskey(client);
  expect(answer.status).toBe(201);
  idctl.wait(11 * 60);
  await client.post('/api/v1/auth/refresh');
  const asked = (await addPasskey(client)).answer;
  const needed = { code: 'recent_sign_in_required', methods: ['passkey', 'recovery'] };
  expect(asked.body).toMatchObject(needed);
  expect(await confirm({ password })).toMatchObject({ status: 400 });
  expect(await confirm({ passkey: answerTo(asked, held) })).toMatchObject({ status: 204 });
  expect((await addPasskey(client)).answer.status).toBe(201);
});
