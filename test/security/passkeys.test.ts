import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Passkey } from '../../src/database/models/passkey.ts';
import { SpentState } from '../../src/database/models/spent-state.ts';
import { transaction } from '../../src/database/transaction.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { beginSession, requireSession } from '../../src/services/signin/begin.ts';
import { removePasskey } from '../../src/services/signin/passkeys/operations.ts';
import { saveSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { authenticatorAt, type Twist } from '../support/authenticator.ts';
import { organization, password, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import {
  addPasskey,
  answerTo,
  keepPasskey,
  passkeySite,
  personWithPasskey,
  signInByPasskey,
} from '../support/passkeys.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ baseUrl: passkeySite, limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const browser = () => idctl.client({ keepCookies: true });
const authenticator = authenticatorAt(passkeySite);

/** The reasons in the events of this kind about this account. */
async function reasonsOf(kind: string, account: { id: string }): Promise<string[]> {
  const events = await Event.findAll({ where: { kind }, order: ['id'] });
  const theirs = events.filter(({ subject }) => subject?.id === account.id);
  return theirs.map(({ data }) => String(data['reason']));
}

/** The parts of an answer that must be equal for every refused sign-in. */
function bytesOf({ status, body, headers }: Awaited<ReturnType<typeof signInByPasskey>>) {
  const { requestId: _, ...rest } = body;
  return [status, headers['www-authenticate'], headers['content-type'], JSON.stringify(rest)];
}

const elsewhere = 'https://id.example.test.evil.test';

const wrong: [string, Twist, string][] = [
  ['another origin', { origin: elsewhere }, 'wrong_origin'],
  ['another port of the origin', { origin: `${passkeySite}:8443` }, 'wrong_origin'],
  ['another host', { rpId: 'example.test' }, 'wrong_host'],
  ['a challenge that idctl did not make', { challenge: 'bm90IG91cnM' }, 'wrong_challenge'],
  ['a forged signature', { forged: true }, 'wrong_signature'],
  ['no user present', { flags: { up: false } }, 'user_not_present'],
  ['no user verified', { flags: { uv: false } }, 'user_not_verified'],
  ['a counter that went back', { counter: 1 }, 'counter_went_back'],
  ['a counter that did not grow', { counter: 2 }, 'counter_went_back'],
  ['a counter of zero after a higher one', { counter: 0 }, 'counter_went_back'],
  ['no account named', { userHandle: null }, 'wrong_account'],
  ['another account named', { userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' }, 'wrong_account'],
  ['the answer to a registration', { type: 'webauthn.create' }, 'malformed'],
];

describe('a sign-in by passkey', () => {
  test.each(wrong)(
    'P16 is refused with %s, and an event says why',
    async (_name, twist, reason) => {
      const { account, held } = await personWithPasskey(idctl);
      const client = browser();
      expect((await signInByPasskey(client, held)).status).toBe(200);
      const refused = await signInByPasskey(browser(), held, twist);
      expect(refused).toMatchObject({ status: 401, body: { code: 'signin_failed' }, cookies: [] });
      expect(await reasonsOf('signin.refused', account)).toEqual([reason]);
    },
  );

  test('P16 a challenge works once, even if the first attempt was refused', async () => {
    const { account, held } = await personWithPasskey(idctl);
    const client = browser();
    const { body: options } = await client.post('/api/v1/auth/passkey/options');
    const enter = (twist: Twist = {}) =>
      client.post('/api/v1/auth/passkey', { credential: authenticator.get(held, options, twist) });
    expect((await enter({ forged: true })).status).toBe(401);
    expect((await enter()).status).toBe(401);
    const next = (await client.post('/api/v1/auth/passkey/options')).body;
    const credential = authenticator.get(held, next);
    const both = await Promise.all(
      [1, 2].map(() => client.post('/api/v1/auth/passkey', { credential })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(new Set(await reasonsOf('signin.refused', account))).toEqual(
      new Set(['wrong_signature', 'challenge_replayed']),
    );
  });

  test('P16 a challenge expires after five minutes, and the record of its use within an hour', async () => {
    const { account, held } = await personWithPasskey(idctl);
    const client = browser();
    const { body: options } = await client.post('/api/v1/auth/passkey/options');
    idctl.wait(301);
    const credential = authenticator.get(held, options);
    expect((await client.post('/api/v1/auth/passkey', { credential })).status).toBe(401);
    expect(await reasonsOf('signin.refused', account)).toEqual(['challenge_expired']);
    const spent = await SpentState.findAll();
    expect(spent.every(({ expiresAt }) => expiresAt <= new Date(Date.now() + 3600_000))).toBe(true);
  });

  test('P16 a challenge works only in the browser that requested it', async () => {
    const { account, held } = await personWithPasskey(idctl);
    const first = browser();
    const { body: options, cookies } = await first.post('/api/v1/auth/passkey/options');
    expect(cookies).toMatchObject([
      { name: '__Host-passkey', httpOnly: true, sameSite: 'lax', secure: true, path: '/' },
    ]);
    const other = browser();
    await other.post('/api/v1/auth/passkey/options');
    const credential = authenticator.get(held, options);
    for (const client of [other, browser()])
      expect((await client.post('/api/v1/auth/passkey', { credential })).status).toBe(401);
    expect(await reasonsOf('signin.refused', account)).toEqual(['other_browser']);
    expect((await first.post('/api/v1/auth/passkey', { credential })).status).toBe(200);
  });

  test('P16 a challenge has one purpose: one for the second factor does not sign in alone', async () => {
    const { account, held } = await personWithPasskey(idctl);
    const client = browser();
    const asked = await client.post('/api/v1/auth/login', { email: account.email, password });
    const credential = answerTo(asked, held);
    expect((await client.post('/api/v1/auth/passkey', { credential })).status).toBe(401);
    expect(await reasonsOf('signin.refused', account)).toEqual(['challenge_of_another_use']);
  });

  test('P16 a challenge to confirm the session does not answer a request for the second factor of the same account, nor the reverse', async () => {
    const { account, browser: client, held } = await personWithPasskey(idctl);
    idctl.wait(11 * 60);
    const login = { email: account.email, password };
    const toConfirm = answerTo((await addPasskey(client)).answer, held);
    const signIn = await client.post('/api/v1/auth/login', { ...login, passkey: toConfirm });
    expect(signIn).toMatchObject({ status: 401, body: { code: 'second_factor_invalid' } });
    const toSignIn = answerTo(await client.post('/api/v1/auth/login', login), held);
    const confirm = await client.post('/api/v1/auth/confirm', { passkey: toSignIn });
    expect([confirm.status, confirm.body.code]).toEqual([401, 'second_factor_invalid']);
  });

  test('P16 an account can have 20 passkeys and no more, even with parallel requests', async () => {
    const { account, held } = await personWithPasskey(idctl);
    const client = browser();
    await signInByPasskey(client, held);
    for (let count = 1; count < 19; count += 1) await keepPasskey(account.id);
    const answers = await Promise.all([addPasskey(client), addPasskey(client)]);
    expect(answers.map(({ answer }) => answer.status).sort()).toEqual([201, 409]);
    const last = (await addPasskey(client)).answer;
    expect(last).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await Passkey.count({ where: { accountId: account.id } })).toBe(20);
  });

  test('P7 P16 an unknown credential, a removed one, a forged signature and a disabled account get the same answer', async () => {
    const client = browser();
    const { held: unknown } = authenticator.create({ challenge: '', user: { id: '' } });
    const answers = [
      await signInByPasskey(client, { ...unknown, userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' }),
    ];
    const removed = await personWithPasskey(idctl);
    await removePasskey(idctl.operator(), { user: removed.account.id, id: removed.passkey });
    answers.push(await signInByPasskey(client, removed.held));
    const disabled = await personWithPasskey(idctl);
    await disableUser(idctl.operator(), { user: disabled.account.id });
    answers.push(await signInByPasskey(client, disabled.held));
    const forged = await personWithPasskey(idctl);
    answers.push(await signInByPasskey(client, forged.held, { forged: true }));
    const [first, ...others] = answers.map(bytesOf);
    expect(first?.[0]).toBe(401);
    for (const other of others) expect(other).toEqual(first);
  });

  test('O1 P16 if passkeys are off, a sign-in is refused after the proof, and no passkey can be added', async () => {
    const org = await organization(idctl);
    // With two organizations, neither governs the addresses of the other tests.
    await organization(idctl);
    const domain = await verifiedDomain(idctl, org.slug);
    const { account, held } = await personWithPasskey(idctl, `ada@${domain}`);
    const late = await person(idctl, `late@${domain}`);
    const settings = { org: org.slug, password: true, passkey: false };
    await saveSignInSettings(idctl.operator(), settings);
    expect(await signInByPasskey(browser(), held)).toMatchObject({
      status: 403,
      body: { code: 'signin_method_off', methods: expect.not.arrayContaining(['passkey']) },
    });
    expect((await signInByPasskey(browser(), held, { forged: true })).status).toBe(401);
    const { answer } = await addPasskey(await signedIn(idctl, late.email));
    expect(answer).toMatchObject({ status: 403, body: { code: 'signin_method_off' } });
    // The passkey stays a second factor.
    const client = browser();
    const asked = await client.post('/api/v1/auth/login', { email: account.email, password });
    const passkey = answerTo(asked, held);
    const given = { email: account.email, password, passkey };
    expect((await client.post('/api/v1/auth/login', given)).status).toBe(200);
  });
});

describe('a passkey as the second factor', () => {
  test.each([
    ['of another account', {}, 'other_account'],
    ['with a forged signature', { forged: true }, 'wrong_signature'],
    ['from another origin', { origin: elsewhere }, 'wrong_origin'],
    ['with a counter that went back', { counter: 0 }, 'counter_went_back'],
  ])('P12 P16 an answer %s is refused, and an event says why', async (name, twist, reason) => {
    const { account, held } = await personWithPasskey(idctl);
    const { held: foreign } = await personWithPasskey(idctl);
    const given = { email: account.email, password };
    const client = browser();
    const asked = await client.post('/api/v1/auth/login', given);
    const passkey = answerTo(asked, name.includes('account') ? foreign : held, twist);
    expect(await client.post('/api/v1/auth/login', { ...given, passkey })).toMatchObject({
      status: 401,
      body: { code: 'second_factor_invalid' },
    });
    expect(await reasonsOf('user.passkey.refused', account)).toEqual([reason]);
  });
});

describe('adding and removing a passkey', () => {
  test.each([
    ['another origin', { origin: elsewhere }, 'wrong_origin'],
    ['another host', { rpId: 'example.test' }, 'wrong_host'],
    ['a challenge that idctl did not make', { challenge: 'bm90IG91cnM' }, 'wrong_challenge'],
    ['the answer to a sign-in', { type: 'webauthn.get' }, 'malformed'],
    ['no user present', { flags: { up: false } }, 'user_not_present'],
  ])(
    'P16 a new passkey with %s is refused, and an event says why',
    async (_name, twist, reason) => {
      const account = await person(idctl);
      const { answer } = await addPasskey(await signedIn(idctl, account.email), twist);
      expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
      expect(await reasonsOf('user.passkey.refused', account)).toEqual([reason]);
    },
  );

  test('S9 P16 a new passkey with a certificate is refused unread, so that idctl fetches no address from it', async () => {
    const account = await person(idctl);
    const client = await signedIn(idctl, account.email);
    const certificate = Buffer.alloc(300);
    expect((await addPasskey(client, { certificate })).answer.status).toBe(409);
    expect(await reasonsOf('user.passkey.refused', account)).toEqual(['attested']);
  });

  test('P16 one credential belongs to one account', async () => {
    const { held } = await personWithPasskey(idctl);
    const client = await signedIn(idctl, (await person(idctl)).email);
    const { answer } = await addPasskey(client, { id: held.id });
    expect(answer).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  });

  test('P16 a session older than ten minutes neither adds nor removes passkeys, and a token never removes one', async () => {
    const { account, held, passkey } = await personWithPasskey(idctl);
    const client = browser();
    await signInByPasskey(client, held);
    const token = (await client.post('/api/v1/me/tokens', { name: 'all', scope: 'admin' })).body;
    const path = `/api/v1/me/passkeys/${passkey}`;
    idctl.wait(601);
    const needed = { status: 403, body: { code: 'recent_sign_in_required' } };
    expect((await addPasskey(client)).answer).toMatchObject(needed);
    const refused = await client.send('DELETE', path);
    expect(refused).toMatchObject(needed);
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token.token}` } });
    expect(await byToken.send('DELETE', path)).toMatchObject({
      status: 403,
      body: { code: 'session_required' },
    });
    const answer = { passkey: answerTo(refused, held) };
    expect((await client.post('/api/v1/auth/confirm', answer)).status).toBe(204);
    expect((await client.send('DELETE', path)).status).toBe(204);
    expect(account.id).toBeDefined();
  });

  test('P15 P16 a session without the account’s second factor does not add a passkey, however recent it is', async () => {
    const { account } = await personWithPasskey(idctl);
    // A sign-in through a provider asks for no second factor here.
    const client = await signedInPastFactor(account.id);
    const { answer } = await addPasskey(client);
    expect(answer).toMatchObject({ status: 403, body: { code: 'recent_sign_in_required' } });
    const wrongPassword = await client.post('/api/v1/auth/confirm', { password });
    expect(wrongPassword.status).toBe(400);
  });
});

/** A client in a session that began without a second factor. */
async function signedInPastFactor(accountId: string) {
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  const session = await transaction(async () =>
    requireSession(await beginSession(idctl.operator(), account, { method: 'sso' })),
  );
  const client = browser();
  client.jar.set('access_token', session.accessToken);
  return client;
}
