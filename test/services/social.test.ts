import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { listMembers } from '../../src/services/tenancy/memberships/operations.ts';
import { saveSignInSettings } from '../../src/services/tenancy/signin-settings/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { openIdctl } from '../support/idctl.ts';
import { overtake } from '../support/overtake.ts';
import { open } from '../support/pages.ts';
import { openSocial, type Social, startAt, withGitHub, withGoogle } from '../support/social.ts';
import { comeBack } from '../support/sso.ts';
import { enrolled } from '../support/two-factor.ts';

let social: Social;
beforeAll(async () => {
  social = await openSocial(openIdctl);
});
afterAll(() => social.close());

/** Adds a person at Google, with these claims. */
function googler(claims: Record<string, unknown> = {}) {
  const sub = fresh('sub');
  const email = `${sub}@example.test`;
  social.google.people.set(sub, { email, email_verified: true, name: 'Grace Hopper', ...claims });
  return { sub, email };
}

let lastId = 1000;
/** Adds a person at GitHub, with these addresses. */
function hubber(emails?: { email: string; primary: boolean; verified: boolean }[]) {
  lastId += 1;
  const email = `hub${lastId}@example.test`;
  social.github.people.set(lastId, {
    login: `hub${lastId}`,
    name: 'Linus',
    emails: emails ?? [
      { email: `other${lastId}@example.test`, primary: false, verified: true },
      { email, primary: true, verified: true },
    ],
  });
  return { id: lastId, email };
}

const failed = { status: 401, body: { code: 'signin_failed' }, cookies: [] };

describe('§5.4 signing in with a social provider', () => {
  test('S1 §5.4 the authorization URL at Google has code, exact scope, PKCE and nonce; a browser is redirected to the provider', async () => {
    const url = new URL(await startAt(social.idctl.client(), 'google'));
    expect(url.origin).toBe(social.google.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      scope: 'openid email profile',
      redirect_uri: 'https://id.example.test/auth/social/google/callback',
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const browser = await social.idctl
      .client()
      .get('/auth/social/github/start', { accept: 'text/html' });
    expect(browser.status).toBe(302);
    expect(browser.headers['location']).toContain(
      `${social.github.baseUrl}/login/oauth/authorize?`,
    );
    expect(browser.headers['location']).toContain('code_challenge_method=S256');
  });

  test('§5.4 creates the account with the address that Google verified; later sign-ins find it by the subject', async () => {
    const { sub, email } = googler();
    const { client, answer } = await withGoogle(social, sub);
    expect(answer).toMatchObject({
      status: 200,
      body: { user: { email, emailVerified: true, name: 'Grace Hopper' } },
    });
    expect((await client.get('/api/v1/me')).body.organizations).toEqual([]);
    expect((await client.get('/api/v1/me/sessions')).body.items).toMatchObject([
      { method: 'google' },
    ]);
    social.google.people.set(sub, { email: 'moved@example.test', email_verified: true });
    const again = await withGoogle(social, sub);
    expect(again.answer.body.user).toMatchObject({ id: answer.body.user.id, email });
  });

  // On SQLite, the second transaction would wait for the first.
  test.runIf(dialect === 'postgres')(
    '§5.4 a first sign-in that another first sign-in overtakes uses the same account',
    async () => {
      const { sub } = googler();
      const signIn = () => withGoogle(social, sub);
      const overtaken = await overtake(signIn, signIn);
      expect(overtaken.map(({ answer }) => answer.status)).toEqual([200, 200]);
      const [first, second] = overtaken.map(({ answer }) => answer.body.user.id);
      expect(first).toBe(second);
    },
  );

  test('S6 a sign-in that began with another client id of the instance is refused before GitHub is asked', async () => {
    const { id } = hubber();
    const client = social.idctl.client({ keepCookies: true });
    const { github } = social.idctl.app.config.social;
    const now = github.clientId;
    github.clientId = 'an earlier client';
    const started = await startAt(client, 'github').finally(() => {
      github.clientId = now;
    });
    expect(await comeBack(client, social.github.signIn(started, id))).toMatchObject(failed);
    const events = await Event.findAll({ where: { kind: 'signin.refused' }, order: ['id'] });
    expect(events.at(-1)?.data).toMatchObject({ method: 'github', reason: 'connection_changed' });
  });

  test('§5.4 only the primary address at GitHub counts, and only if GitHub has verified it', async () => {
    const { id, email } = hubber();
    expect((await withGitHub(social, id)).answer).toMatchObject({
      status: 200,
      body: { user: { email, name: 'Linus' } },
    });
    const unverified = hubber([
      { email: 'unverified@example.test', primary: true, verified: false },
      { email: 'spare@example.test', primary: false, verified: true },
    ]);
    expect((await withGitHub(social, unverified.id)).answer).toMatchObject(failed);
    expect((await withGitHub(social, hubber([]).id)).answer).toMatchObject(failed);
  });

  test('§5.4 an account with a proved address is linked and keeps its password; a second Google account is refused', async () => {
    const { sub, email } = googler();
    const existing = await person(social.idctl, email);
    expect((await withGoogle(social, sub)).answer.body.user.id).toBe(existing.id);
    await signedIn(social.idctl, email);
    const { id } = hubber([{ email, primary: true, verified: true }]);
    expect((await withGitHub(social, id)).answer.body.user.id).toBe(existing.id);
    expect(await Identity.count({ where: { accountId: existing.id } })).toBe(2);
    const impostor = googler({ email });
    expect((await withGoogle(social, impostor.sub)).answer).toMatchObject(failed);
  });

  test('§2.9 a new person on a verified domain joins the organization only if it allows self-signup', async () => {
    const org = await organization(social.idctl);
    const domain = await verifiedDomain(social.idctl, org.slug);
    const join = async (sub: string) => {
      const { client } = await withGoogle(social, sub);
      return (await client.get('/api/v1/me')).body.organizations;
    };
    expect(await join(googler({ email: `first@${domain}` }).sub)).toEqual([]);
    await saveSignInSettings(social.idctl.operator(), { org: org.slug, allowSelfSignup: true });
    expect(await join(googler({ email: `second@${domain}` }).sub)).toMatchObject([
      { id: org.id, role: 'member' },
    ]);
    const { items } = await listMembers(social.idctl.operator(), { org: org.slug, limit: 50 });
    expect(items.find(({ email }) => email === `second@${domain}`)?.origin).toEqual({
      kind: 'social',
      by: 'google',
    });
  });

  test('S2 S3 a state is valid once, for one provider and in one browser', async () => {
    const { sub } = googler();
    const client = social.idctl.client({ keepCookies: true });
    const callback = await social.google.signIn(await startAt(client, 'google'), sub);
    const stranger = social.idctl.client({ headers: { 'sec-fetch-mode': 'navigate' } });
    expect(await comeBack(stranger, callback)).toMatchObject(failed);
    const crossed = callback.replace('/social/google/', '/social/github/');
    const other = await social.google.signIn(await startAt(client, 'google'), sub);
    expect(
      await comeBack(client, other.replace('/social/google/', '/social/github/')),
    ).toMatchObject(failed);
    expect(await comeBack(client, crossed.replace('/social/github/', '/sso/'))).toMatchObject(
      failed,
    );
    expect((await comeBack(client, callback)).status).toBe(200);
    expect(await comeBack(client, callback)).toMatchObject(failed);
  });

  test('X5 a refused sign-in records an event with its reason', async () => {
    await withGoogle(social, googler({ email_verified: false }).sub);
    const events = await Event.findAll({ where: { kind: 'signin.refused' } });
    expect(events.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ method: 'google', reason: 'email_not_verified' }),
    );
  });
});

describe('linking a provider to the signed-in account', () => {
  const link = async (client: Awaited<ReturnType<typeof signedIn>>, sub: string) => {
    const { body } = await client.post('/api/v1/me/social/google', { returnTo: '/linked' });
    return social.google.signIn(body.authorizationUrl, sub);
  };

  test('O5 links the identity whatever its address, for later sign-ins', async () => {
    const account = await person(social.idctl);
    const client = await signedIn(social.idctl, account.email);
    const { sub } = googler();
    const back = await comeBack(client, await link(client, sub));
    expect(back).toMatchObject({ status: 200, body: { user: { id: account.id } } });
    expect((await withGoogle(social, sub)).answer.body.user.id).toBe(account.id);
  });

  test('X10 the account page confirms the link only in the browser that linked the provider', async () => {
    const account = await person(social.idctl);
    const client = await signedIn(social.idctl, account.email);
    const away = await (await open(client, '/')).submit('/account/social', { provider: 'google' });
    const [, url = ''] = /class="button" href="([^"]+)"/.exec(String(away.body)) ?? [];
    const callback = new URL(
      await social.google.signIn(url.replaceAll('&amp;', '&'), googler().sub),
    );
    const answer = await client.get(callback.pathname + callback.search, { accept: 'text/html' });
    const to = String(answer.headers['location']).replace('#sign-in', '');
    expect((await open(client, to)).text).toContain('The account was connected.');
    const elsewhere = await signedIn(social.idctl, account.email);
    await open(elsewhere, '/');
    expect((await open(elsewhere, to)).text).not.toContain('The account was connected.');
  });

  test('O5 a person can list and unlink the identity; that ends its sessions, and changes no other account', async () => {
    const [ada, bob] = [await person(social.idctl), await person(social.idctl)];
    const [client, other] = [
      await signedIn(social.idctl, ada.email),
      await signedIn(social.idctl, bob.email),
    ];
    const { sub } = googler();
    await comeBack(other, await link(other, googler().sub));
    const thief = (await comeBack(client, await link(client, sub))).body;
    const mine = await signedIn(social.idctl, ada.email);
    expect((await mine.get('/api/v1/me/social')).body.items).toMatchObject([
      { provider: 'google' },
    ]);
    expect((await mine.send('DELETE', '/api/v1/me/social/google')).status).toBe(204);
    expect((await mine.get('/api/v1/me/social')).body.items).toEqual([]);
    const authorization = `Bearer ${thief.accessToken}`;
    expect((await social.idctl.client().get('/api/v1/me', { authorization })).status).toBe(401);
    expect((await mine.get('/api/v1/me')).status).toBe(200);
    expect((await other.get('/api/v1/me/social')).body.items).toMatchObject([
      { provider: 'google' },
    ]);
    expect((await mine.send('DELETE', '/api/v1/me/social/google')).status).toBe(204);
  });

  test('P12 O5 asks for the second factor, and links the identity after it', async () => {
    const { account, client, code } = await enrolled(social.idctl);
    await client.post('/api/v1/auth/confirm', { totpCode: code() });
    social.idctl.wait(60);
    const { sub } = googler();
    const { body } = await client.post('/api/v1/me/social/google', { returnTo: '/linked' });
    const back = await comeBack(client, await social.google.signIn(body.authorizationUrl, sub));
    expect(back).toMatchObject({ status: 401, body: { code: 'second_factor_required' } });
    const done = await client.post('/api/v1/auth/second-factor', { totpCode: code() });
    expect(done).toMatchObject({ status: 200, body: { user: { id: account.id } } });
    expect(await Identity.count({ where: { accountId: account.id } })).toBe(1);
  });

  test('O5 is refused for a person who did not begin it, and for an identity of another account', async () => {
    const [ada, eve] = [await person(social.idctl), await person(social.idctl)];
    const client = await signedIn(social.idctl, ada.email);
    const callback = await link(client, googler().sub);
    const evil = await signedIn(social.idctl, eve.email);
    evil.jar.set('social_flow', client.jar.get('social_flow') ?? '');
    expect(await comeBack(evil, callback)).toMatchObject(failed);
    const taken = googler();
    await withGoogle(social, taken.sub);
    expect(await comeBack(client, await link(client, taken.sub))).toMatchObject(failed);
  });
});
