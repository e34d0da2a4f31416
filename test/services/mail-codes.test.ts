import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';

import { disableUser, unlockUser } from '../../src/services/people/users/operations.ts';
import { requestPasswordReset } from '../../src/services/signin/methods/codes.ts';
import { admitSignUp } from '../../src/services/signin/sign-up/sign-up.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { deactivate } from '../../src/services/tenancy/memberships/join-and-leave.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { changeSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { sweepNow } from '../support/sweep.ts';
import { enrolled } from '../support/two-factor.ts';

let idctl: MailingIdctl;
beforeAll(async () => {
  idctl = await openMailingIdctl({ signup: { open: 'on' }, signin: { magicCode: 'on' } });
});
afterAll(() => idctl.close());

const newPassword = 'a staple of another kind';
const whole = (email = `${fresh('ada')}@example.test`) => ({ email, password, name: 'Ada Byron' });
const post = (path: string, body: object) => idctl.client().post(`/api/v1/auth/${path}`, body);
const login = (email: string | null, secret = password) =>
  post('login', { email, password: secret });
const accountOf = (email: string) => Account.findOne({ where: { email }, rejectOnEmpty: true });

/** Makes an account as the operator, and returns its address. */
async function known(): Promise<string> {
  return (await person(idctl)).email ?? '';
}

/** Asks for a code, and reads it in the mailbox. */
async function mailed(path: string, email: string): Promise<string> {
  expect(await post(path, { email })).toMatchObject({ status: 202, body: {} });
  return idctl.codeFor(email);
}

async function signedUp(email?: string): Promise<string> {
  const body = whole(email);
  expect((await post('signup', body)).status).toBe(201);
  return body.email;
}

async function kindsAbout(email: string): Promise<string[]> {
  const { id } = await accountOf(email);
  const events = await Event.findAll({ order: ['id'] });
  return events.filter(({ subject }) => subject?.id === id).map(({ kind }) => kind);
}

describe('spec §4.4 sign-up on an instance that sends mail', () => {
  test('§2.6 P10 a new account is unverified until the mailed six-digit code confirms it and signs the person in', async () => {
    const body = { ...whole(), locale: 'de' };
    const asked = await post('signup', body);
    expect([asked.status, asked.body]).toEqual([201, { emailVerification: 'required' }]);
    expect(asked.cookies).toMatchObject([{ name: 'sign_up', httpOnly: true, sameSite: 'lax' }]);
    const code = await idctl.codeFor(body.email);
    expect(await accountOf(body.email)).toMatchObject({ emailProof: 'none', locale: 'de' });
    expect(await login(body.email)).toMatchObject({
      status: 401,
      body: { code: 'signin_failed' },
      cookies: [],
    });
    const answer = await post('verify-email', { email: body.email.toUpperCase(), code, password });
    expect(answer).toMatchObject({
      status: 200,
      body: { user: { email: body.email, emailVerified: true } },
    });
    expect(answer.cookies.map(({ name }) => name)).toEqual([
      'access_token',
      'refresh_token',
      'session_name',
      'known_browser',
    ]);
    const client = await signedIn(idctl, body.email);
    expect((await client.get('/api/v1/me')).body).toMatchObject({ emailVerified: true });
    expect(await kindsAbout(body.email)).toEqual([
      'user.created',
      'signin.refused',
      'user.email.verified',
      'session.started',
      'session.started',
    ]);
  });

  test('P11 a code to confirm an address signs nobody in once the address was proved in another way', async () => {
    const email = await signedUp();
    const code = await idctl.codeFor(email);
    await transaction(() => Account.update({ emailProof: 'mail' }, { where: { email } }));
    const late = await post('verify-email', { email, code, password });
    expect(late).toMatchObject({ status: 401, body: { code: 'code_invalid' }, cookies: [] });
  });

  test('P10 the code is valid once and for ten minutes; a resend mails a new code, which replaces the first', async () => {
    const email = await signedUp();
    const first = await idctl.codeFor(email);
    const second = await mailed('verify-email/resend', email);
    if (first !== second)
      expect((await post('verify-email', { email, code: first })).status).toBe(401);
    idctl.wait(601);
    const late = await post('verify-email', { email, code: second });
    expect(late).toMatchObject({ status: 401, body: { code: 'code_invalid' }, cookies: [] });
    const third = await mailed('verify-email/resend', email);
    expect(
      (await post('verify-email', { email, code: `${third.slice(0, 3)} ${third.slice(3)}` }))
        .status,
    ).toBe(200);
    expect((await post('verify-email', { email, code: third })).status).toBe(401);
    // After the confirmation, a resend sends nothing.
    const before = (await idctl.lettersTo(email)).length;
    await post('verify-email/resend', { email });
    expect(await idctl.lettersTo(email)).toHaveLength(before);
  });

  /** The number of mails that resends send if each is delivered before the next is requested. */
  async function lettersFromResends(email: string, times: number): Promise<number> {
    const before = (await idctl.lettersTo(email)).length;
    for (let at = 0; at < times; at += 1) {
      await post('verify-email/resend', { email });
      await idctl.deliver();
    }
    return (await idctl.lettersTo(email)).length - before;
  }

  test('P10 resends before the mail of a sign-up is written send no further mail, and do not count against the limit', async () => {
    idctl.wait(61);
    const email = await signedUp();
    for (let at = 0; at < 4; at += 1) await post('verify-email/resend', { email });
    expect(await idctl.lettersTo(email)).toHaveLength(1);
    expect(await lettersFromResends(email, 6)).toBe(4);
    const { status } = await post('verify-email', { email, code: await idctl.codeFor(email) });
    expect(status).toBe(200);
  });

  test('P10 resends right after a second sign-up, or before the mail of a new account is written, send no further mail either', async () => {
    idctl.wait(61);
    const squatted = await signedUp();
    await idctl.deliver();
    idctl.wait(3600);
    await signedUp(squatted);
    for (let at = 0; at < 4; at += 1) await post('verify-email/resend', { email: squatted });
    expect(await idctl.lettersTo(squatted)).toHaveLength(2);
    expect(await lettersFromResends(squatted, 6)).toBe(4);
    idctl.wait(61);
    const email = `${fresh('ada')}@example.test`;
    const signUp = { email, name: 'Ada', locale: null, passwordHash: 'x', invitation: null };
    await transaction(() => admitSignUp(idctl.operator(), signUp));
    for (let at = 0; at < 4; at += 1) await post('verify-email/resend', { email });
    const letters = await idctl.lettersTo(email);
    expect(letters).toHaveLength(1);
    expect(await lettersFromResends(email, 6)).toBe(5);
  });

  test('P10 if the mail server does not accept the mail of a resend, idctl sends the mail again later', async () => {
    idctl.wait(61);
    const email = await signedUp();
    await idctl.deliver();
    const before = (await idctl.lettersTo(email)).length;
    await post('verify-email/resend', { email });
    idctl.smtp.refuse(450);
    await idctl.deliver();
    idctl.smtp.refuse(null);
    idctl.wait(11);
    expect((await idctl.lettersTo(email)).length - before).toBe(1);
  });

  test('P7 a sign-up with the address of an existing account gets the same answer, and the mail says that the account exists', async () => {
    const email = await known();
    const [ours, theirs] = [
      await post('signup', whole()),
      await post('signup', { ...whole(email), password: newPassword }),
    ];
    const seen = ({ status, body, cookies }: typeof ours) => [
      status,
      body,
      cookies.map(({ value, expires: _, ...cookie }) => ({ ...cookie, long: value?.length })),
    ];
    expect(seen(theirs)).toEqual(seen(ours));
    const letters = await idctl.lettersTo(email);
    expect(letters).toMatchObject([{ subject: expect.stringContaining('You have an account') }]);
    expect(letters[0]?.text).not.toMatch(/\b\d{6}\b/);
    await signedIn(idctl, email);
  });

  test('P7 the password of a sign-up does not reveal whether the account existed: at sign-in it fails like a wrong one', async () => {
    const emails = [await known(), whole().email];
    for (const email of emails) await post('signup', { ...whole(email), password: newPassword });
    await idctl.deliver();
    const seen = [];
    for (const email of emails) {
      const { status, body, cookies } = await login(email, newPassword);
      seen.push({ status, body: { ...body, requestId: '' }, cookies });
    }
    expect(seen[0]).toMatchObject({ status: 401, body: { code: 'signin_failed' }, cookies: [] });
    expect(seen[1]).toEqual(seen[0]);
  });

  test('P11 a second sign-up for an unverified account replaces the first: its password and its code', async () => {
    const email = await signedUp();
    const first = await idctl.codeFor(email);
    const client = idctl.client({ keepCookies: true });
    await client.post('/api/v1/auth/signup', {
      ...whole(email),
      password: newPassword,
      name: 'Grace',
    });
    // The mail job gives the account to the second sign-up before it mails the code.
    const { passwordHash } = await accountOf(email);
    const other = {
      email,
      name: 'Grace',
      locale: null,
      passwordHash: passwordHash ?? '',
      invitation: null,
    };
    await transaction(() => admitSignUp(idctl.operator(), other));
    expect((await post('verify-email', { email, code: first })).status).toBe(401);
    const second = await idctl.codeFor(email);
    const { body } = await client.post('/api/v1/auth/verify-email', { email, code: second });
    expect(body.user).toMatchObject({ name: 'Grace' });
    expect([(await login(email)).status, (await login(email, newPassword)).status]).toEqual([
      401, 200,
    ]);
  });

  test('P11 a sign-up that is not confirmed is deleted after seven days, and its address is free; other accounts stay', async () => {
    const emails = Object.fromEntries(
      ['idle', 'member', 'removed', 'asking', 'disabled', 'late', 'confirmed'].map((name) => [
        name,
        `${fresh(name)}@example.test`,
      ]),
    );
    const { idle, member, removed, asking, disabled, late, confirmed } = emails;
    for (const email of Object.values(emails)) await signedUp(email);
    await idctl.deliver();
    const code = await mailed('password/reset', confirmed ?? '');
    await post('password/reset/confirm', { email: confirmed, code, newPassword });
    const { slug: org } = await organization(idctl);
    for (const email of [member, removed])
      await addMember(idctl.operator(), { org, email: email ?? '', role: 'member' });
    await removeMember(idctl.operator(), { org, user: removed ?? '' });
    await disableUser(idctl.operator(), { user: disabled ?? '' });
    const { id } = await accountOf(idle ?? '');
    const sweep = async () => {
      await sweepNow(idctl.as({ kind: 'system', name: 'sweep' }));
      const there = await Account.findAll({ where: { email: Object.values(emails) } });
      return Object.keys(emails).filter((name) =>
        there.some(({ email }) => email === emails[name]),
      );
    };
    idctl.wait(6 * 86_400);
    await signedUp(late);
    await idctl.deliver();
    expect(await sweep()).toEqual(Object.keys(emails));
    idctl.wait(86_400 + 1);
    await mailed('verify-email/resend', asking ?? '');
    expect(await sweep()).toEqual(Object.keys(emails).filter((name) => name !== 'idle'));
    const gone = await Event.findAll({ where: { kind: 'user.deleted' } });
    const [event] = gone.filter(({ subject }) => subject?.id === id);
    expect(event).toMatchObject({
      actor: { kind: 'system', name: 'sweep' },
      subject: { name: idle },
    });
    await signedUp(idle);
    expect(
      (await post('verify-email', { email: idle, code: await idctl.codeFor(idle ?? '') })).status,
    ).toBe(200);
  });

  test('§2.9 on a verified domain, allow self-signup decides; the code makes the person a member, unless SCIM deactivated them (I5)', async () => {
    const { slug: org, id: organizationId } = await organization(idctl);
    const domain = await verifiedDomain(idctl, org);
    const email = `${fresh('ada')}@${domain}`;
    expect(await post('signup', whole(email))).toMatchObject({
      status: 403,
      body: { code: 'signup_closed' },
    });
    await changeSignInSettings(idctl.operator(), { org, allowSelfSignup: true });
    await signedUp(email);
    const { body } = await post('verify-email', { email, code: await idctl.codeFor(email) });
    const me = () =>
      idctl.client().get('/api/v1/me', { authorization: `Bearer ${body.accessToken}` });
    expect((await me()).body.organizations).toMatchObject([{ slug: org, role: 'member' }]);

    const gone = await signedUp(`${fresh('ada')}@${domain}`);
    const code = await idctl.codeFor(gone);
    const account = await accountOf(gone);
    await transaction(() => deactivate(idctl.operator(), organizationId, account));
    const back = await post('verify-email', { email: gone, code });
    const theirs = { authorization: `Bearer ${back.body.accessToken}` };
    expect((await idctl.client().get('/api/v1/me', theirs)).body.organizations).toEqual([]);
  });
});

describe('magic code', () => {
  test('interface page: a mailed code signs in without a password, and works once', async () => {
    const email = await known();
    const code = await mailed('magic-code', email);
    const answer = await post('magic-code/verify', { email, code });
    expect(answer).toMatchObject({ status: 200, body: { user: { email } } });
    expect(answer.cookies).toHaveLength(4);
    expect(await post('magic-code/verify', { email, code })).toMatchObject({
      body: { code: 'code_invalid' },
    });
    await signedIn(idctl, email);
  });

  test('P10 P12 if the account has a second factor, the code is spent when the sign-in completes and not before', async () => {
    const { account, code: totp } = await enrolled(idctl);
    const email = account.email ?? '';
    const code = await mailed('magic-code', email);
    const ask = (more: object) => post('magic-code/verify', { email, code, ...more });
    for (let count = 0; count < 6; count += 1) {
      expect(await ask({})).toMatchObject({
        status: 401,
        body: { code: 'second_factor_required' },
        cookies: [],
      });
    }
    expect(await ask({ totpCode: '000000' })).toMatchObject({
      body: { code: 'second_factor_invalid' },
    });
    expect((await ask({ totpCode: totp() })).status).toBe(200);
    idctl.wait(60);
    expect(await ask({ totpCode: totp() })).toMatchObject({ body: { code: 'code_invalid' } });
  });

  test('P10 a code is valid for one purpose and one account only', async () => {
    const [email, other] = [await known(), await known()];
    const code = await mailed('magic-code', email);
    const wrong = [
      await post('password/reset/confirm', { email, code, newPassword }),
      await post('verify-email', { email, code }),
      await post('magic-code/verify', { email: other, code }),
    ];
    expect(wrong.map(({ body }) => body.code)).toEqual(Array(3).fill('code_invalid'));
    expect((await post('magic-code/verify', { email, code })).status).toBe(200);
  });

  test('P10 after five wrong codes, even the right code is refused', async () => {
    const email = await known();
    const code = await mailed('magic-code', email);
    const wrong = code === '000000' ? '000001' : '000000';
    for (let count = 0; count < 5; count += 1)
      await post('magic-code/verify', { email, code: wrong });
    expect(await post('magic-code/verify', { email, code })).toMatchObject({
      body: { code: 'code_invalid' },
    });
    const another = await mailed('magic-code', email);
    expect((await post('magic-code/verify', { email, code: another })).status).toBe(200);
  });

  test('X6 input other than six digits is refused as invalid, and does not count as an attempt', async () => {
    const email = await known();
    const code = await mailed('magic-code', email);
    for (const wrong of ['12345', '1234567', 'abcdef', '', '１２３４５６']) {
      expect((await post('magic-code/verify', { email, code: wrong })).status).toBe(400);
    }
    expect((await post('magic-code/verify', { email, code })).status).toBe(200);
  });

  test('O1 if the settings disable codes, a right code is refused with the allowed methods, and stays valid', async () => {
    const { slug: org } = await organization(idctl);
    const domain = await verifiedDomain(idctl, org);
    await changeSignInSettings(idctl.operator(), { org, magicCode: false });
    const email = (await person(idctl, `${fresh('ada')}@${domain}`)).email ?? '';
    const code = await mailed('magic-code', email);
    const answer = await post('magic-code/verify', { email, code });
    expect(answer).toMatchObject({
      status: 403,
      body: { code: 'signin_method_off', methods: ['password'] },
    });
    await changeSignInSettings(idctl.operator(), { org, magicCode: true });
    expect((await post('magic-code/verify', { email, code })).status).toBe(200);
  });
});

describe('password reset', () => {
  test('interface page: a mailed code sets a new password, ends every session, and starts none', async () => {
    const email = await known();
    const session = await signedIn(idctl, email);
    const code = await mailed('password/reset', email);
    const answer = await post('password/reset/confirm', { email, code, newPassword });
    expect([answer.status, answer.cookies]).toEqual([204, []]);
    expect((await session.get('/api/v1/me')).status).toBe(401);
    expect([(await login(email)).status, (await login(email, newPassword)).status]).toEqual([
      401, 200,
    ]);
    expect(await kindsAbout(email)).toContain('user.password.reset');
  });

  test('P7 P10 a password that is not allowed is refused with the name of the field, and the code stays valid', async () => {
    const email = await known();
    const code = await mailed('password/reset', email);
    const weak = await post('password/reset/confirm', { email, code, newPassword: 'password123' });
    expect(weak).toMatchObject({ status: 400, body: { errors: [{ path: 'newPassword' }] } });
    expect((await post('password/reset/confirm', { email, code, newPassword })).status).toBe(204);
  });

  test('P12 a reset requires the second factor if the account has one', async () => {
    const { account, code: totp } = await enrolled(idctl);
    const email = account.email ?? '';
    const code = await mailed('password/reset', email);
    const confirm = (more: object) =>
      post('password/reset/confirm', { email, code, newPassword, ...more });
    expect(await confirm({})).toMatchObject({
      status: 401,
      body: { code: 'second_factor_required' },
    });
    expect((await login(email)).body.code).toBe('second_factor_required');
    const spent = totp();
    expect((await confirm({ totpCode: spent })).status).toBe(204);
    const again = await post('login', { email, password: newPassword, totpCode: spent });
    expect(again).toMatchObject({ body: { code: 'second_factor_invalid' } });
  });
});

describe('mails sent', () => {
  test('P10 an address gets at most five codes an hour for all purposes, until it is unlocked; the answer stays the same', async () => {
    const email = await known();
    const paths = [
      'magic-code',
      'password/reset',
      'magic-code',
      'password/reset',
      'magic-code',
      'magic-code',
    ];
    for (const path of paths)
      expect(await post(path, { email })).toMatchObject({ status: 202, body: {} });
    expect(await idctl.lettersTo(email)).toHaveLength(5);
    await unlockUser(idctl.operator(), { user: email });
    await post('magic-code', { email });
    expect(await idctl.lettersTo(email)).toHaveLength(6);
    idctl.wait(3601);
    await post('magic-code', { email });
    expect(await idctl.lettersTo(email)).toHaveLength(7);
  });

  test('P8 P10 strangers do not use up the mails of a person: two of the hour’s five are kept for networks with a recent sign-in', async () => {
    const email = await known();
    await signedIn(idctl, email);
    const stranger = (at: number) => ({
      ...idctl.as({ kind: 'anonymous' }),
      client: { address: `192.0.2.${at}`, userAgent: null },
    });
    for (let at = 1; at <= 6; at += 1) await requestPasswordReset(stranger(at), { email });
    expect(await idctl.lettersTo(email)).toHaveLength(3);
    for (let count = 0; count < 3; count += 1) await post('password/reset', { email });
    expect(await idctl.lettersTo(email)).toHaveLength(5);
    idctl.wait(31 * 86_400);
    for (let at = 1; at <= 6; at += 1) await requestPasswordReset(stranger(at), { email });
    expect(await idctl.lettersTo(email)).toHaveLength(10);
  });

  test('P10 a `+tag` is the same mailbox: it gets at most five codes an hour, for all tags and purposes', async () => {
    idctl.wait(61);
    const [plain, tagged] = [fresh('ada'), fresh('bob')].map((name) => `${name}@example.test`);
    const under = (email = '', tag = '') => email.replace('@', `+${tag}@`);
    const addresses = [plain ?? '', under(plain, 'a'), under(plain, 'b'), under(plain, 'c+d')];
    for (const email of addresses) await person(idctl, email);
    const sent = async () => {
      let count = 0;
      for (const email of addresses) count += (await idctl.lettersTo(email)).length;
      return count;
    };
    for (const email of [...addresses, ...addresses]) await post('password/reset', { email });
    expect(await sent()).toBe(5);
    for (const email of addresses) await post('magic-code', { email });
    await post('signup', whole(under(plain, 'new')));
    expect(await sent()).toBe(5);
    expect(await idctl.lettersTo(under(plain, 'new'))).toEqual([]);
    await unlockUser(idctl.operator(), { user: under(plain, 'a') });
    await post('magic-code', { email: plain });
    expect(await sent()).toBe(6);
    // Another mailbox has its own limit. Addresses with a tag share the limit, but not the account.
    await person(idctl, tagged);
    await post('magic-code', { email: tagged });
    expect(await idctl.lettersTo(tagged ?? '')).toHaveLength(1);
    expect((await login(under(tagged, 'x'))).status).toBe(401);
  });

  test('P10 strangers do not use up the mails of a person by adding a `+tag` to the address or leaving one out', async () => {
    idctl.wait(61);
    const name = fresh('ada');
    const stranger = (at: number) => ({
      ...idctl.as({ kind: 'anonymous' }),
      client: { address: `192.0.2.${at}`, userAgent: null },
    });
    for (const [email, other] of [
      [`${name}@example.test`, `${name}+x@example.test`],
      [`${name}2+x@example.test`, `${name}2@example.test`],
    ] as const) {
      for (const each of [email, other]) await person(idctl, each);
      await signedIn(idctl, email);
      for (let at = 1; at <= 6; at += 1) await requestPasswordReset(stranger(at), { email: other });
      expect(await idctl.lettersTo(other)).toHaveLength(3);
      for (let count = 0; count < 3; count += 1) await post('password/reset', { email });
      expect(await idctl.lettersTo(email)).toHaveLength(2);
    }
  });

  test('P8 one network can request a limited number of mails a minute, to all addresses together, and then gets 429', async () => {
    idctl.wait(61);
    const most = idctl.app.config.limits.addressFailures;
    const ask = () => post('magic-code', { email: `${fresh('nobody')}@example.test` });
    for (let count = 0; count < most; count += 1) expect((await ask()).status).toBe(202);
    expect(await ask()).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    // A refused sign-up hashes no password (security P6).
    const { hash } = idctl.app.passwords;
    idctl.app.passwords.hash = () => Promise.reject(new Error('hashed'));
    expect(await post('signup', whole())).toMatchObject({ status: 429 });
    idctl.app.passwords.hash = hash;
    idctl.wait(61);
  });

  test('P9 links in mail lead only to the base URL; a mail to a stranger has no text from the person who signed up', async () => {
    const email = await known();
    const forged = { host: 'evil.test', 'x-forwarded-host': 'evil.test', origin: idctl.baseUrl };
    const client = idctl.client({ headers: forged });
    expect((await client.post('/api/v1/auth/signup', whole(email))).status).toBe(201);
    expect((await client.post('/api/v1/auth/magic-code', { email })).status).toBe(202);
    const stranger = { ...whole(), name: 'Win at https://evil.test' };
    await idctl.client().post('/api/v1/auth/signup', stranger);
    const letters = [...(await idctl.lettersTo(email)), ...(await idctl.lettersTo(stranger.email))];
    expect(letters).toHaveLength(3);
    for (const { raw, text, html } of letters) {
      expect(raw).not.toContain('evil');
      const links = `${text} ${html}`.match(/https?:[^\s"<),]+/g) ?? [];
      expect(links.filter((link) => new URL(link).origin !== idctl.baseUrl)).toEqual([]);
      expect(links).not.toEqual([]);
    }
  });

  test('P7 no mail goes to an address without an account or to a disabled account', async () => {
    const nobody = `${fresh('nobody')}@example.test`;
    const disabled = await known();
    const code = await mailed('magic-code', disabled);
    idctl.smtp.letters.length = 0;
    await transaction(() =>
      Account.update({ disabledAt: new Date() }, { where: { email: disabled } }),
    );
    for (const email of [nobody, disabled]) {
      for (const path of ['magic-code', 'password/reset', 'verify-email/resend'])
        await post(path, { email });
      expect(await idctl.lettersTo(email)).toEqual([]);
    }
    const late = await post('magic-code/verify', { email: disabled, code });
    expect(late).toMatchObject({ status: 401, body: { code: 'code_invalid' } });
  });
});
