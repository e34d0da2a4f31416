import { expect, onTestFinished, test } from 'vitest';
import { commandText } from '../../src/cli/next.ts';
import { Account } from '../../src/database/models/account.ts';
import { transaction } from '../../src/database/transaction.ts';
import { passkeysLeft } from '../../src/services/people/two-factor/operations.ts';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { explain } from '../../src/services/signin/explain/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { settingsOf } from '../../src/services/tenancy/signin-settings/governing.ts';
import { hasWayIn } from '../../src/services/tenancy/signin-settings/ways.ts';
import type { Twist } from '../support/authenticator.ts';
import { organization, password, person, signedIn } from '../support/builders.ts';
import { openInstance } from '../support/instance.ts';
import { openMailingIdctl } from '../support/mail.ts';
import { open } from '../support/pages.ts';
import {
  addPasskey,
  answerTo,
  passkeySite as baseUrl,
  optionsIn,
  personWithPasskey,
  signInByPasskey,
} from '../support/passkeys.ts';
import { enrolled } from '../support/two-factor.ts';

// These tests check what a passkey can do, and what settings and commands say about it.

test('P16 if an organization sets `password` but not `passkey`, the value applies to both', async () => {
  const idctl = await openInstance({ baseUrl, signin: { passkey: 'on' } });
  expect(settingsOf(idctl.app, {}).passkey).toBe(true);
  expect(settingsOf(idctl.app, { password: false }).passkey).toBe(false);
  expect(settingsOf(idctl.app, { password: false, passkey: true }).passkey).toBe(true);
});

test('P12 five wrong codes do not lock out a person who has a passkey, and explain says so', async () => {
  const idctl = await openInstance({ baseUrl });
  const org = await organization(idctl);
  const { account, code } = await enrolled(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: account.email ?? '', role: 'member' });
  const way = async () => {
    const asked = { org: org.slug, user: account.email ?? '' };
    const { ways } = await explain(idctl.operator(), explain.input.parse(asked));
    return ways.find(({ method }) => method === 'password')?.could;
  };
  const browser = idctl.client({ keepCookies: true });
  const given = { email: account.email, password };
  await browser.post('/api/v1/auth/login', { ...given, totpCode: code() });
  const wrong = () => idctl.client().post('/api/v1/auth/login', { ...given, totpCode: '000000' });
  for (let at = 0; at < 5; at += 1) await wrong();
  expect(await way()).toBe(false);
  const { answer, held } = await addPasskey(browser);
  expect(answer.status).toBe(201);
  expect(await way()).toBe(true);
  const asked = await browser.post('/api/v1/auth/login', given);
  const passkey = answerTo(asked, held);
  expect((await browser.post('/api/v1/auth/login', { ...given, passkey })).status).toBe(200);
});

test.each<[string, Twist, boolean, number]>([
  ['that is discoverable and has verified the person', {}, true, 200],
  ['that is not discoverable', { rk: false }, false, 401],
  ['that has not verified the person yet', { flags: { uv: false } }, false, 200],
  ['of unknown discoverability', { rk: null }, false, 200],
])(
  'P16 O3 a passkey %s counts as a way in only once it is known to sign in',
  async (_which, twist, known, status) => {
    const idctl = await openInstance({ baseUrl });
    const account = await person(idctl);
    const browser = await signedIn(idctl, account.email);
    await transaction(() => Account.update({ passwordHash: null }, { where: { id: account.id } }));
    const { body } = await browser.post('/api/v1/me/passkeys/options');
    expect(body.extensions).toEqual({ credProps: true });
    const { answer, held } = await addPasskey(browser, twist);
    expect(answer.body.signsIn).toBe(status === 200);
    const row = () => Account.findByPk(account.id, { rejectOnEmpty: true });
    expect(await hasWayIn(idctl.operator(), await row())).toBe(known);
    expect((await signInByPasskey(idctl.client({ keepCookies: true }), held)).status).toBe(status);
    expect(await hasWayIn(idctl.operator(), await row())).toBe(status === 200);
  },
);

test('P12 after a refused second factor, idctl asks again, with a new challenge for the passkey', async () => {
  const idctl = await openMailingIdctl({ baseUrl, signin: { magicCode: 'on' } });
  onTestFinished(() => idctl.close());
  const { account, held } = await personWithPasskey(idctl);
  const email = account.email ?? '';
  const client = idctl.client({ keepCookies: true });
  await client.post('/api/v1/auth/magic-code', { email });
  const given = { email, code: await idctl.codeFor(email) };
  const verify = (more: object) =>
    client.post('/api/v1/auth/magic-code/verify', { ...given, ...more });
  const refused = await verify({ passkey: answerTo(await verify({}), held, { forged: true }) });
  expect(refused.body).toMatchObject({
    code: 'second_factor_invalid',
    methods: ['passkey', 'recovery'],
  });
  const place = `/login/mail-code?identifier=${encodeURIComponent(email)}&returnTo=/`;
  const enter = '/login/mail-code/enter';
  const wrong = JSON.stringify(answerTo(refused, held, { forged: true }));
  const page = await (await open(client, place)).submit(enter, { ...given, passkey: wrong });
  expect([page.body.includes('Use a passkey'), page.body.includes('totpCode')]).toEqual([
    true,
    false,
  ]);
  const passkey = answerTo(optionsIn(page) ?? { body: {} }, held);
  expect((await verify({ passkey })).status).toBe(200);
});

test('P5 P16 when the operator sets a password, the answer counts the passkeys that are left', async () => {
  const idctl = await openInstance({ baseUrl });
  const { account } = await personWithPasskey(idctl);
  const set = { user: account.id, password: 'another horse battery' };
  expect(await setUserPassword(idctl.operator(), set)).toMatchObject({ passkeysLeft: 1 });
  expect(commandText(passkeysLeft(1, account.email ?? ''))).toContain(
    `totp-reset ${account.email} --passkeys`,
  );
});
