import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { PendingSignIn } from '../../src/database/models/pending-sign-in.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listAllEvents } from '../../src/services/foundation/events/operations.ts';
import { unlinkIdentities } from '../../src/services/tenancy/identities/operations.ts';
import { saveSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import {
  asGoogleItself,
  clientId,
  openSocial,
  type Social,
  startAt,
  withGitHub,
  withGoogle,
} from '../support/social.ts';
import { comeBack } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

// The attacks are pre-hijacked accounts, as Sudhodanan and Paverd describe them (USENIX Security
// 2022), and providers that assert unverified addresses.

const failed = { status: 401, body: { code: 'signin_failed' }, cookies: [] };
const signInFirst = { status: 409, body: { code: 'sign_in_first' }, cookies: [] };

describe('O5 pre-hijacking', () => {
  let social: Social;
  beforeAll(async () => {
    social = await openSocial(openIdctl, { signup: { open: 'on' } });
  });
  afterAll(() => social.close());

  const victimAt = (email: string, claims: Record<string, unknown> = {}) => {
    const sub = fresh('sub');
    social.google.people.set(sub, { email, email_verified: true, ...claims });
    return sub;
  };
  /** Signs up as the attacker, with the victim's address. Returns the account and its session. */
  async function squatted() {
    const email = `${fresh('victim')}@example.test`;
    const attacker = social.idctl.client({ keepCookies: true });
    const made = await attacker.post('/api/v1/auth/signup', { email, password, name: 'Eve' });
    expect(made.status).toBe(201);
    return { email, attacker, id: String(made.body.user.id) };
  }

  test('O5 classic-federated merge, unexpired session: a person is not linked to an account that another person made', async () => {
    const { email, attacker, id } = await squatted();
    const { answer } = await withGoogle(social, victimAt(email));
    expect(answer).toMatchObject({
      ...signInFirst,
      body: { hint: expect.stringContaining('operator') },
    });
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
    expect((await attacker.get('/api/v1/me')).body.email).toBe(email);
  });

  test('O5 trojan identity: an external identity is not linked to an account with an unproved address, even by its holder', async () => {
    const { email, attacker, id } = await squatted();
    const { body } = await attacker.post('/api/v1/me/social/google');
    const callback = await social.google.signIn(
      body.authorizationUrl,
      victimAt('eve@example.test'),
    );
    expect(await comeBack(attacker, callback)).toMatchObject(signInFirst);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
    expect((await withGoogle(social, victimAt(email))).answer).toMatchObject(signInFirst);
  });

  test('O5 trojan identity: an account that a former owner of the domain proved is linked only by a person signed in to it', async () => {
    const { email, id } = await person(social.idctl);
    const client = await signedIn(social.idctl, email);
    await transaction(() => Account.update({ emailProof: 'former domain' }, { where: { id } }));
    const sub = victimAt(email ?? '');
    const hint = expect.stringContaining('account page');
    const { answer } = await withGoogle(social, sub);
    expect(answer).toMatchObject({ ...signInFirst, body: { hint } });
    const { body } = await client.post('/api/v1/me/social/google');
    const bound = await comeBack(client, await social.google.signIn(body.authorizationUrl, sub));
    expect(bound.status).toBe(200);
    expect((await withGoogle(social, sub)).answer).toMatchObject({
      status: 200,
      body: { user: { id } },
    });
  });

  test.each([
    ['false', { email_verified: false }],
    ['"false"', { email_verified: 'false' }],
    ['missing', { email_verified: undefined }],
    ['1', { email_verified: 1 }],
  ])(
    'O5 non-verifying provider: with email_verified %s, a sign-in links and creates nothing',
    async (_, claims) => {
      const account = await person(social.idctl);
      const nobody = `${fresh('nobody')}@example.test`;
      for (const email of [account.email ?? '', nobody]) {
        expect((await withGoogle(social, victimAt(email, claims))).answer).toMatchObject(failed);
      }
      expect(await Identity.count({ where: { accountId: account.id } })).toBe(0);
      expect(await Account.count({ where: { email: nobody } })).toBe(0);
    },
  );

  test('O5 non-verifying provider: an address that GitHub has not verified, or that is not primary, links nothing', async () => {
    const { id, email } = await person(social.idctl);
    const victim = { email: email ?? '', primary: true, verified: false };
    const own = { email: `${fresh('own')}@example.test`, primary: true, verified: true };
    social.github.people.set(1, { login: 'eve', emails: [victim] });
    expect((await withGitHub(social, 1)).answer).toMatchObject(failed);
    social.github.people.set(2, {
      login: 'eve',
      emails: [{ ...victim, primary: false, verified: true }, own],
    });
    expect((await withGitHub(social, 2)).answer.body.user.id).not.toBe(id);
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
  });

  test('I1 when the operator unlinks an identity, only the sessions through it end', async () => {
    const account = await person(social.idctl);
    const other = await signedIn(social.idctl, account.email);
    const { client } = await withGoogle(social, victimAt(account.email ?? ''));
    const { sessionsEnded } = await unlinkIdentities(social.idctl.operator(), { user: account.id });
    expect(sessionsEnded).toBe(1);
    expect((await client.get('/api/v1/me')).status).toBe(401);
    expect((await other.get('/api/v1/me')).status).toBe(200);
  });

  test('P12 a sign-in that waits for the second factor needs its cookie, and stores only the needed claims of the provider', async () => {
    const { account, code } = await enrolled(social.idctl);
    const sub = victimAt(account.email ?? '', {
      name: 'x'.repeat(50_000),
      groups: ['g'.repeat(50_000)],
    });
    const { client, answer } = await withGoogle(social, sub);
    expect(answer).toMatchObject({ status: 401, body: { code: 'second_factor_required' } });
    expect(answer.cookies.map(({ name }) => name)).toEqual(['__Host-second_factor']);
    const [waiting] = await PendingSignIn.findAll({ where: { accountId: account.id } });
    expect(JSON.stringify(waiting?.payload).length).toBeLessThan(2000);
    expect(await Identity.count({ where: { accountId: account.id } })).toBe(0);
    const done = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect(done).toMatchObject({ status: 200, body: { user: { id: account.id } } });
  });

  test('P12 the code of one account does not complete a sign-in whose identity now leads to another account', async () => {
    const [first, second] = [await enrolled(social.idctl), await enrolled(social.idctl)];
    const sub = victimAt(first.account.email ?? '');
    const { client: linking } = await withGoogle(social, sub);
    const answerCode = (client: Client) =>
      client.post('/api/v1/auth/second-factor', { totpCode: first.code() });
    expect((await answerCode(linking)).status).toBe(200);
    social.idctl.wait(30);
    social.google.people.set(sub, { email: second.account.email ?? '', email_verified: true });
    const { client } = await withGoogle(social, sub);
    await unlinkIdentities(social.idctl.operator(), { user: first.account.id });
    expect(await answerCode(client)).toMatchObject({
      status: 401,
      body: { code: 'second_factor_required' },
      cookies: [],
    });
    expect(await Identity.count({ where: { accountId: second.account.id } })).toBe(0);
  });
});

describe('O5 an address that Google does not manage', () => {
  let social: Social;
  beforeAll(async () => {
    social = await openSocial(openIdctl);
    asGoogleItself(social);
  });
  afterAll(() => social.close());

  const comingAs = async (email: string, claims: Record<string, unknown> = {}) => {
    const sub = fresh('sub');
    social.google.people.set(sub, { email, email_verified: true, ...claims });
    return { sub, ...(await withGoogle(social, sub)) };
  };

  test('O5 a Google account with an address that Google does not manage neither signs in nor creates an account', async () => {
    const org = await organization(social.idctl);
    const domain = await verifiedDomain(social.idctl, org.slug);
    await saveSignInSettings(social.idctl.operator(), { org: org.slug, allowSelfSignup: true });
    const { email, id } = await person(social.idctl, `ada@${domain}`);
    const former = `former@${domain}`;
    for (const claims of [{}, { hd: '' }, { hd: 1 }, { hd: null }]) {
      for (const address of [email ?? '', former]) {
        expect((await comingAs(address, claims)).answer).toMatchObject(signInFirst);
      }
    }
    expect(await Identity.count({ where: { accountId: id } })).toBe(0);
    expect(await Account.count({ where: { email: former } })).toBe(0);
    const refused = await Event.findAll({ where: { kind: 'signin.refused' } });
    expect(refused.map(({ data }) => data['reason'])).toContain('sign_in_first');
  });

  test('O5 a Gmail address signs in, and so does one that an organization manages at Google, or any address of a linked account', async () => {
    const { email, id } = await person(social.idctl);
    expect((await comingAs(email ?? '', { hd: 'example.test' })).answer.body.user).toMatchObject({
      id,
    });
    const gmail = `${fresh('ada')}@gmail.com`;
    const { sub, client, answer } = await comingAs(gmail);
    expect(answer.body.user).toMatchObject({ email: gmail });
    social.google.people.set(sub, { email: 'ada@elsewhere.test', email_verified: true });
    expect((await withGoogle(social, sub)).answer.body.user).toMatchObject({ email: gmail });
    const other = await signedIn(social.idctl, (await person(social.idctl)).email);
    social.google.people.set('bound', { email: 'own@elsewhere.test', email_verified: true });
    const { body } = await other.post('/api/v1/me/social/google');
    expect(
      (await comeBack(other, await social.google.signIn(body.authorizationUrl, 'bound'))).status,
    ).toBe(200);
    expect((await withGoogle(social, 'bound')).answer.status).toBe(200);
    expect((await client.get('/api/v1/me')).status).toBe(200);
  });

  test('O2 O5 if social sign-in is restricted to verified domains, an address on them is refused unless Google manages it', async () => {
    const org = await organization(social.idctl);
    const domain = await verifiedDomain(social.idctl, org.slug);
    const { email } = await person(social.idctl, `ada@${domain}`);
    const { sub, answer } = await comingAs(email ?? '', { hd: domain });
    expect(answer.status).toBe(200);
    const settings = { org: org.slug, restrictOauthToVerifiedDomains: true };
    await saveSignInSettings(social.idctl.operator(), settings);
    expect((await withGoogle(social, sub)).answer.status).toBe(200);
    social.google.people.set(sub, { email: email ?? '', email_verified: true });
    expect((await withGoogle(social, sub)).answer).toMatchObject({
      status: 403,
      body: { code: 'signin_method_off' },
      cookies: [],
    });
  });
});

describe('S4 Google’s ID token is validated completely', () => {
  const ada = { email: 'ada@acme.test', email_verified: true };
  let liar: LyingProvider;
  let social: Social;
  beforeAll(async () => {
    liar = await startLyingProvider(clientId, 'replaced below');
    liar.answers.userinfo = () => ({ body: { sub: 'person-1', ...ada } });
    const google = { clientId, clientSecret: 's', issuer: liar.issuer };
    social = await openSocial(openIdctl, { social: { google } });
  });
  afterAll(async () => {
    await social.close();
    await liar.stop();
  });

  /** Signs in with an ID token made from the honest claims, with the nonce of the request. */
  async function comingBack(
    idToken: (honest: Record<string, unknown>) => Promise<string | undefined>,
  ) {
    const client = social.idctl.client({ keepCookies: true });
    const { searchParams } = new URL(await startAt(client, 'google'));
    const claims = {
      ...liar.claims(searchParams.get('nonce') ?? ''),
      ...ada,
    };
    const token = await idToken(claims);
    liar.answers.token = () => ({
      body: {
        access_token: 'opaque',
        token_type: 'Bearer',
        ...(token === undefined ? {} : { id_token: token }),
      },
    });
    const query = new URLSearchParams({
      code: fresh('a code that is long enough '),
      state: searchParams.get('state') ?? '',
    });
    return comeBack(client, `https://id.example.test/auth/social/google/callback?${query}`);
  }

  test('S4 an unchanged token is accepted', async () => {
    expect((await comingBack((claims) => liar.sign(claims))).body.user).toMatchObject({
      email: 'ada@acme.test',
    });
  });

  test.each<[string, Record<string, unknown>]>([
    ['another nonce', { nonce: 'another' }],
    ['another audience', { aud: 'another client' }],
    ['another issuer', { iss: 'https://accounts.evil.test' }],
    ['an expiry in the past', { exp: 1 }],
    ['another subject than userinfo', { sub: 'person-2' }],
  ])('S4 a token with %s is refused', async (_, changed) => {
    expect(await comingBack((claims) => liar.sign({ ...claims, ...changed }))).toMatchObject(
      failed,
    );
  });

  test('S4 a token signed by another key, and a missing one, are refused', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    expect(await comingBack((claims) => liar.sign(claims, {}, privateKey))).toMatchObject(failed);
    expect(await comingBack(async () => undefined)).toMatchObject({
      status: 502,
      body: { detail: 'Google could not be used.' },
      cookies: [],
    });
  });
});

test('S8 X5 a provider that is down is reported in one sentence, without its address; the operator finds one event', async () => {
  const google = { clientId, clientSecret: 's', issuer: 'http://127.0.0.1:9' };
  const idctl = await openIdctl({ social: { google } });
  onTestFinished(() => idctl.close());
  for (let at = 0; at < 3; at += 1) {
    const answer = await idctl.client().get('/auth/social/google/start');
    expect(answer).toMatchObject({ status: 502, body: { code: 'provider_failed' } });
    expect(JSON.stringify(answer.body)).not.toContain('127.0.0.1');
  }
  expect(await failures(idctl)).toMatchObject([
    { provider: 'google', stage: 'discovery', reason: 'unreachable', count: 1 },
  ]);
  const other = await idctl.client().get('/auth/social/github/start');
  expect(other).toMatchObject({ status: 404, body: { code: 'social_not_configured' } });
});

test('X5 if a provider fails after the person returns, one event for each reason counts the failures', async () => {
  const social = await openSocial(openIdctl);
  onTestFinished(() => social.close());
  const back: string[] = [];
  const client = social.idctl.client({ keepCookies: true });
  for (const id of [1, 2]) back.push(social.github.signIn(await startAt(client, 'github'), id));
  await social.github.stop();
  for (const callback of back) {
    const { status, body } = await comeBack(client, callback);
    expect([status, body.detail]).toEqual([502, 'GitHub could not be used.']);
  }
  expect(await failures(social.idctl)).toMatchObject([
    { provider: 'github', stage: 'token', reason: 'connection_refused', count: 2 },
  ]);
});

async function failures(idctl: Idctl) {
  const { items } = await listAllEvents(idctl.operator(), {
    kind: 'social.provider.failed',
    limit: 9,
  });
  return items.map(({ data }) => data);
}
