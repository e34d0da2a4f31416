import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { regenerateApp } from '../../src/services/people/apps/operations.ts';
import {
  disableUser,
  enableUser,
  setUserPassword,
} from '../../src/services/people/users/operations.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { appOf } from '../support/apps.ts';
import { password, person, signedIn } from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { tokenOf, useToken } from '../support/tokens.ts';

// These tests check changes that must end credentials. kill-matrix.test.ts covers the rest.

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({ signin: { magicCode: 'on' }, limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const another = 'a staple of another kind';
const post = (path: string, body: object) => idctl.client().post(`/api/v1/auth/${path}`, body);

/** A new person who was mailed a code to sign in and a code to reset the password. */
async function withCodes() {
  const { id, email } = await person(idctl);
  const to = email ?? '';
  await post('magic-code', { email: to });
  const signin = await idctl.codeFor(to);
  await post('password/reset', { email: to });
  const reset = await idctl.codeFor(to);
  const useSignin = () => post('magic-code/verify', { email: to, code: signin });
  const useReset = () =>
    post('password/reset/confirm', { email: to, code: reset, newPassword: 'one more staple' });
  return { id, email: to, useSignin, useReset, reset };
}

const invalid = { status: 401, body: { code: 'code_invalid' } };

describe('P10 a new password ends every code mailed before', () => {
  test.each([
    [
      'P10 if the operator sets it',
      ({ id }: Awaited<ReturnType<typeof withCodes>>) =>
        setUserPassword(idctl.operator(), { user: id, password: another, keepTokens: true }),
    ],
    [
      'P10 if its owner sets it',
      async ({ email }: Awaited<ReturnType<typeof withCodes>>) => {
        const client = await signedIn(idctl, email);
        const body = { currentPassword: password, newPassword: another };
        expect((await client.post('/api/v1/me/password', body)).status).toBe(204);
      },
    ],
  ])('%s', async (_, set) => {
    const somebody = await withCodes();
    await set(somebody);
    expect(await somebody.useReset()).toMatchObject(invalid);
    expect(await somebody.useSignin()).toMatchObject(invalid);
  });

  test('P10 if it is set with another mailed code', async () => {
    const somebody = await withCodes();
    expect((await somebody.useReset()).status).toBe(204);
    expect(await somebody.useSignin()).toMatchObject(invalid);
  });
});

test('P5 a password set by the operator revokes tokens and bot tokens, and keeps the app; --keep-tokens keeps all three', async () => {
  const { id } = await person(idctl);
  const { token } = await tokenOf(idctl, { user: id });
  const app = await appOf(idctl, { user: id });
  const bot = await app.mint();
  const uses = async () => [
    (await useToken(idctl, token)).status,
    (await useToken(idctl, bot)).status,
  ];
  await setUserPassword(idctl.operator(), { user: id, password: another, keepTokens: true });
  expect(await uses()).toEqual([200, 200]);
  const { ended } = await setUserPassword(idctl.operator(), {
    user: id,
    password,
    keepTokens: false,
  });
  expect(ended).toEqual({ sessions: 0, tokens: 2 });
  expect(await uses()).toEqual([401, 401]);
  expect((await app.ask()).status).toBe(200);
  const events = await Event.findAll({ where: { kind: 'user.password.set' }, order: ['id'] });
  const own = events.filter(({ subject }) => subject?.id === id);
  expect(own.map(({ data }) => data)).toEqual([{ tokensEnded: 0 }, { tokensEnded: 2 }]);
});

test('P2 mailed codes and login links of a disabled account stay invalid when the account is enabled again', async () => {
  const somebody = await withCodes();
  const { url } = await createLoginLink(idctl.operator(), { user: somebody.id });
  await disableUser(idctl.operator(), { user: somebody.id });
  await enableUser(idctl.operator(), { user: somebody.id });
  expect(await somebody.useSignin()).toMatchObject(invalid);
  expect(await somebody.useReset()).toMatchObject(invalid);
  const { pathname, search } = new URL(url);
  expect((await idctl.client().get(pathname + search)).status).toBe(401);
  await signedIn(idctl, somebody.email);
});

test('P14 regenerating an app’s secret revokes the bot tokens issued for the old secret', async () => {
  const app = await appOf(idctl);
  const bot = await app.mint();
  const { clientSecret } = await regenerateApp(idctl.operator(), { id: app.id });
  expect((await useToken(idctl, bot)).status).toBe(401);
  const answer = await app.ask({ client_secret: clientSecret });
  expect((await useToken(idctl, answer.body.access_token)).status).toBe(200);
});
