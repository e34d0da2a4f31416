import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { checkSignUps } from '../../src/services/instance/doctor/diagnose.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { openLoginLink } from '../../src/services/signin/flow.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { showUser } from '../../src/services/tenancy/profile/operations.ts';
import { fresh, organization, password } from '../support/builders.ts';
import { hintLike } from '../support/hints.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { scimClient } from '../support/scim-client.ts';

// An account waits for a mailed code while the operator removes the mail settings and restores
// them.

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({ signup: { open: 'on' }, signin: { magicCode: 'on' } });
});
afterAll(() => idctl?.close());

const address = () => `${fresh('boss')}@corp.test`;
const post = (path: string, body: object) => idctl.client().post(`/api/v1/auth/${path}`, body);
const login = (email: string) => post('login', { email, password });

async function signUp(email: string): Promise<void> {
  expect((await post('signup', { email, password, name: 'Mallory' })).status).toBe(201);
  await idctl.deliver();
}

/** Runs `work` while the instance has no mail settings. */
async function withoutMail<T>(work: () => Promise<T>): Promise<T> {
  const { config } = idctl.app;
  const { smtpUrl: _, ...mail } = config.mail;
  idctl.app.config = { ...config, mail };
  try {
    return await work();
  } finally {
    idctl.app.config = config;
  }
}

test('I3 removing the mail settings does not confirm a sign-up that waits for its code', async () => {
  const email = address();
  await signUp(email);
  await withoutMail(async () => {
    expect((await login(email)).status).toBe(401);
    const { url } = await createLoginLink(idctl.operator(), { user: email });
    const token = new URL(url).searchParams.get('token') ?? '';
    const opened = openLoginLink(idctl.as({ kind: 'anonymous' }), { token });
    await expect(opened).rejects.toMatchObject({ code: 'email_unverified' });
  });
  const body = { email, code: await idctl.codeFor(email), password };
  expect(await post('verify-email', body)).toMatchObject({
    status: 200,
    body: { user: { emailVerified: true } },
  });
  expect((await withoutMail(() => login(email))).status).toBe(200);
});

test('I3 removing the mail settings does not confirm a sign-up that a stranger began on a provisioned account', async () => {
  const { create } = await scimClient(idctl);
  const [pushed, squatted] = [address(), address()];
  for (const userName of [pushed, squatted]) await create({ userName });
  await signUp(squatted);
  await withoutMail(async () => {
    expect((await login(squatted)).status).toBe(401);
    expect(await showUser(idctl.operator(), { user: squatted })).toMatchObject({
      emailVerified: false,
    });
    // An account without credentials waits for no code, and counts as verified, as specified.
    expect(await showUser(idctl.operator(), { user: pushed })).toMatchObject({
      emailVerified: true,
    });
  });
});

test('I3 removing the mail settings does not confirm a sign-up whose account an operator has made a member', async () => {
  const email = address();
  await signUp(email);
  const { slug: org } = await organization(idctl);
  await addMember(idctl.operator(), { org, email, role: 'admin' });
  await withoutMail(async () => {
    expect((await login(email)).status).toBe(401);
    // Signing up again, which asks for no code without mail, does not confirm the account either.
    const again = await post('signup', { email, password, name: 'Mallory' });
    expect(again).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  });
  expect(await Account.findOne({ where: { email } })).toMatchObject({ emailProof: 'none' });
});

test('I3 doctor reports that accounts wait for a code which is not mailed', async () => {
  await signUp(address());
  const { app } = idctl;
  expect(await checkSignUps(app)).toBeNull();
  await withoutMail(async () => {
    expect(await checkSignUps(app)).toMatchObject({
      ok: true,
      message: expect.stringMatching(
        /wait.* for a mailed code, and this instance does not send mail/,
      ),
      hint: hintLike('idctl user create'),
    });
  });
});

test('P11 a sign-up revokes no token that an operator made for an unproved account; the code does', async () => {
  const { create } = await scimClient(idctl);
  const [untouched, squatted] = [address(), address()];
  for (const userName of [untouched, squatted]) await create({ userName });
  await signUp(squatted);
  for (const email of [untouched, squatted]) {
    const { token } = await createToken(idctl.operator(), {
      user: email,
      name: 'for the pipeline',
    });
    const works = async () =>
      (await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status;
    await signUp(email);
    expect([await works(), (await login(email)).status]).toEqual([200, 401]);
    const confirmed = await post('verify-email', { email, code: await idctl.codeFor(email) });
    expect(confirmed).toMatchObject({ status: 200, body: { passwordKept: false } });
    expect([await works(), (await login(email)).status]).toEqual([401, 401]);
  }
});

test.each(['verification', 'sign-in', 'reset'])(
  'P11 a code for %s removes the name and language that a stranger chose, whether or not SCIM named the person before',
  async (purpose) => {
    const { create } = await scimClient(idctl);
    const [squatted, member] = [address(), address()];
    await create({ userName: member, name: { formatted: 'Ada Byron' } });
    const stranger = { password, name: 'Your account is blocked, call 0190', locale: 'fr' };
    for (const email of [squatted, member]) {
      await post('signup', { email, ...stranger });
      await idctl.deliver();
      const code = () => idctl.codeFor(email);
      if (purpose === 'verification') await post('verify-email', { email, code: await code() });
      if (purpose === 'sign-in') {
        await post('magic-code', { email });
        await post('magic-code/verify', { email, code: await code() });
      }
      if (purpose === 'reset') {
        await post('password/reset', { email });
        const newPassword = 'a staple of another kind';
        await post('password/reset/confirm', { email, code: await code(), newPassword });
      }
      const { emailProof, name, locale } = await Account.findOne({
        where: { email },
        rejectOnEmpty: true,
      });
      const own = email.slice(0, email.indexOf('@'));
      expect({ emailProof, name, locale }).toEqual({ emailProof: 'mail', name: own, locale: 'en' });
    }
  },
);

test('P11 a code keeps the name from SCIM of a person for whom nobody has signed up', async () => {
  const { create } = await scimClient(idctl);
  const email = address();
  await create({ userName: email, name: { formatted: 'Ada Byron' } });
  await post('magic-code', { email });
  await post('magic-code/verify', { email, code: await idctl.codeFor(email) });
  expect(await Account.findOne({ where: { email } })).toMatchObject({
    emailProof: 'mail',
    name: 'Ada Byron',
  });
});
