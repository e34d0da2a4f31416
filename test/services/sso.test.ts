import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  listMembers,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { disableSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration, signInAt, start } from '../support/sso.ts';

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

/** Adds a person at the provider, with an address on the domain. */
function someone(domain: string, claims: Record<string, unknown> = {}) {
  const sub = fresh('sub');
  const email = `${sub}@${domain}`;
  provider.people.set(sub, { email, email_verified: true, name: 'Grace Hopper', ...claims });
  return { sub, email };
}

describe('§4.1 signing in through a real OpenID provider', () => {
  test('§4.1 start returns the authorization URL with scope, signed state, PKCE and nonce', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const answer = await idctl.client().get(`/auth/sso/start?domain=${domain.toUpperCase()}`);
    expect(answer.status).toBe(200);
    const { searchParams, origin } = new URL(answer.body.authorizationUrl);
    expect(origin).toBe(provider.issuer);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      scope: 'openid email profile',
      client_id: registration.clientId,
      redirect_uri: `${idctl.baseUrl}/auth/sso/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]+\.[\w-]{43}$/),
    });
  });

  test('§4.1 start redirects a browser to the provider with 302', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const answer = await idctl
      .client()
      .get(`/auth/sso/start?domain=${domain}`, { accept: 'text/html' });
    expect(answer.status).toBe(302);
    expect(answer.headers['location']).toContain(provider.issuer);
  });

  test('§7 start for a domain without an enabled connection is 404 sso_not_configured', async () => {
    const { domain, org } = await connected(idctl, provider.issuer);
    const unknown = await idctl.client().get('/auth/sso/start?domain=nobody.test');
    expect(unknown).toMatchObject({ status: 404, body: { code: 'sso_not_configured' } });
    await disableSso(idctl.operator(), { org: org.slug });
    expect((await idctl.client().get(`/auth/sso/start?domain=${domain}`)).status).toBe(404);
  });

  test('§4.1 step 5 the first sign-in creates an account with name and verified e-mail, makes it a Member and sets the cookies', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { sub, email } = someone(domain);
    const { client, answer } = await signInAt(idctl, provider, domain, sub);
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({
      email,
      emailVerified: true,
      name: 'Grace Hopper',
      disabled: false,
    });
    const me = await client.get('/api/v1/me');
    expect(me.body.organizations).toMatchObject([{ id: org.id, role: 'member' }]);
    const { items } = await listMembers(idctl.operator(), { org: org.slug, limit: 50 });
    expect(items.find((member) => member.email === email)?.origin.kind).toBe('sso');
    expect((await client.post('/api/v1/auth/refresh')).status).toBe(200);
  });

  test('after the sign-in, a browser is redirected to returnTo', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const { sub } = someone(domain);
    const client = idctl.client({
      keepCookies: true,
      headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' },
    });
    const started = await client.get(`/auth/sso/start?domain=${domain}&returnTo=%2Fprojects`);
    const callback = new URL(await provider.signIn(String(started.headers['location']), sub));
    const answer = await client.get(callback.pathname + callback.search);
    expect(answer).toMatchObject({ status: 302, headers: { location: '/projects' } });
    expect(client.jar.has('access_token')).toBe(true);
  });

  test('I1 the second sign-in finds the account by the identity, and a changed e-mail links no other account', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const { sub, email } = someone(domain);
    const first = await signInAt(idctl, provider, domain, sub);
    const victim = await person(idctl, `victim-${sub}@${domain}`);
    provider.people.set(sub, { email: victim.email ?? '', email_verified: true });
    const second = await signInAt(idctl, provider, domain, sub);
    expect(second.answer.body.user).toMatchObject({ id: first.answer.body.user.id, email });
    expect(await Identity.count({ where: { accountId: victim.id } })).toBe(0);
  });

  test('I1 a second identity with the same address at one connection is refused with an event', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { sub, email } = someone(domain);
    await signInAt(idctl, provider, domain, sub);
    const { sub: impostor } = someone(domain, { email });
    const { answer } = await signInAt(idctl, provider, domain, impostor);
    expect(answer).toMatchObject({ status: 401, body: { code: 'signin_failed' }, cookies: [] });
    expect(await reasons(org.slug)).toEqual(['identity_conflict']);
  });

  test('I1 an existing account on the verified domain is linked and keeps its password', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const existing = await person(idctl, `${fresh('old')}@${domain}`);
    const { sub } = someone(domain, { email: existing.email?.toUpperCase() });
    const { answer } = await signInAt(idctl, provider, domain, sub);
    expect(answer.body.user.id).toBe(existing.id);
    await signedIn(idctl, existing.email);
  });

  test('I3 a sign-in to an account with an unproved address removes the earlier holder’s password and sessions', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const squatted = await person(idctl, `${fresh('squat')}@${domain}`);
    await transaction(() => Account.update({ emailProof: 'auto' }, { where: { id: squatted.id } }));
    const holder = await signedIn(idctl, squatted.email);
    const { sub } = someone(domain, { email: squatted.email ?? '' });
    const { answer } = await signInAt(idctl, provider, domain, sub);
    expect(answer.body.user.id).toBe(squatted.id);
    expect((await holder.get('/api/v1/me')).status).toBe(401);
    await expect(signedIn(idctl, squatted.email)).rejects.toThrow('401');
  });

  test('eight concurrent first sign-ins of one person create one account and one membership', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { sub, email } = someone(domain);
    const all = await Promise.all(
      Array.from({ length: 8 }, () => signInAt(idctl, provider, domain, sub)),
    );
    expect(all.map(({ answer }) => answer.status)).toEqual(Array(8).fill(200));
    expect(await Account.count({ where: { email } })).toBe(1);
    const { items } = await listMembers(idctl.operator(), { org: org.slug, limit: 50 });
    expect(items.filter((member) => member.email === email)).toHaveLength(1);
  });
});

describe('refused sign-ins', () => {
  test.each([
    ['email_missing', { email: undefined }],
    ['email_missing', { email: '' }],
    ['email_malformed', { email: 'not an address' }],
    ['email_domain_differs', { email: 'ada@elsewhere.test' }],
    ['email_not_verified', { email_verified: false }],
    ['email_not_verified', { email_verified: 'false' }],
  ])('§4.1 step 4, I6 %s: %j is refused and does not create an account', async (reason, claims) => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const before = await Account.count();
    const { sub } = someone(domain, claims);
    const { answer } = await signInAt(idctl, provider, domain, sub);
    expect(answer).toMatchObject({ status: 401, body: { code: 'signin_failed' }, cookies: [] });
    expect(await Account.count()).toBe(before);
    expect(await reasons(org.slug)).toEqual([reason]);
  });

  test('D7 an address on a subdomain of the connection’s domain is refused', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const { sub } = someone(`sub.${domain}`);
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(401);
  });

  test('I6 on a verified domain, email_verified may be absent', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const { sub } = someone(domain, { email_verified: undefined });
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(200);
  });

  test('I6 with ignoreEmailVerified, email_verified may be absent or false', async () => {
    const { domain } = await connected(idctl, provider.issuer, { ignoreEmailVerified: true });
    const absent = someone(domain, { email_verified: undefined });
    expect((await signInAt(idctl, provider, domain, absent.sub)).answer.status).toBe(200);
    const ignored = someone(domain, { email_verified: false });
    expect((await signInAt(idctl, provider, domain, ignored.sub)).answer.status).toBe(200);
  });

  test('I5 a removed person cannot sign in, and is not told why, until an admin adds them again', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { sub, email } = someone(domain);
    const { client } = await signInAt(idctl, provider, domain, sub);
    await removeMember(idctl.operator(), { org: org.slug, user: email });
    expect((await client.get('/api/v1/me')).status).toBe(401);
    const again = await signInAt(idctl, provider, domain, sub);
    expect(again.answer).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
    expect(await reasons(org.slug)).toEqual(['deactivated']);
    await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
    expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(200);
  });

  test('D5 removing the domain disables the connection and names the owners who signed in through it', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { sub, email } = someone(domain);
    await signInAt(idctl, provider, domain, sub);
    const admin = { org: org.slug, user: email, role: 'owner' as const };
    await changeMemberRole(idctl.operator(), admin);
    const url = await start(idctl.client(), domain);
    const removed = await removeDomain(idctl.operator(), { org: org.slug, domain });
    expect(removed).toEqual({
      ...{ domain, ssoDisabled: true, sessionsEnded: 1 },
      ...{ owners: [email], people: [email], memberships: [] },
    });
    expect((await idctl.client().get(`/auth/sso/start?domain=${domain}`)).status).toBe(404);
    const callback = new URL(await provider.signIn(url, sub));
    expect((await idctl.client().get(callback.pathname + callback.search)).status).toBe(401);
  });
});

describe('§2.2 the connection over REST', () => {
  async function admin() {
    const org = await organization(idctl);
    const client = await signedIn(idctl, org.owner.email);
    const domain = `${fresh('d')}.test`;
    const put = (body: object) => client.send('PUT', `/api/v1/orgs/${org.slug}/sso`, { body });
    const whole = {
      emailDomain: domain,
      issuer: 'https://idp.example',
      clientId: 'c',
      clientSecret: 's',
    };
    return { org, client, domain, put, whole };
  }

  test('§2.2 the secret is never returned, and the defaults are those of the specification', async () => {
    const { put, whole, domain, client, org } = await admin();
    const answer = await put(whole);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      kind: 'oidc',
      emailDomain: domain,
      issuer: 'https://idp.example',
      clientId: 'c',
      hasClientSecret: true,
      redirectUri: `${idctl.baseUrl}/auth/sso/callback`,
      enabled: false,
      syncOnLogin: true,
      groupsClaim: 'groups',
      autoRemove: false,
      absentGroups: 'unknown',
      ignoreEmailVerified: false,
      requireLocalTwoFactor: false,
      approved: true,
      changedBy: { kind: 'user', id: expect.any(String), name: 'Ada Byron' },
      pointsAt: expect.any(String),
    });
    expect((await client.get(`/api/v1/orgs/${org.slug}/sso`)).body).toEqual(answer.body);
  });

  test('§2.2 the secret is encrypted at rest', async () => {
    const { put, whole, org } = await admin();
    await put({ ...whole, clientSecret: 'canary-secret' });
    const row = await SsoConnection.findOne({
      where: { organizationId: org.id },
      rejectOnEmpty: true,
    });
    expect(JSON.stringify(row)).not.toContain('canary-secret');
  });

  test('S10 a blank secret keeps the stored one, but a changed issuer or client ID needs it again', async () => {
    const { put, whole } = await admin();
    await put(whole);
    const { clientSecret: _, ...rest } = whole;
    expect((await put({ ...rest, groupsClaim: 'roles' })).status).toBe(200);
    expect((await put({ ...whole, clientSecret: '' })).status).toBe(200);
    for (const change of [{ issuer: 'https://evil.example' }, { clientId: 'other' }]) {
      expect(await put({ ...rest, ...change })).toMatchObject({
        status: 409,
        body: { code: 'secret_required' },
      });
      expect((await put({ ...whole, ...change })).status).toBe(200);
      expect((await put(whole)).status).toBe(200);
    }
  });

  test('the first save needs a secret', async () => {
    const { put, whole } = await admin();
    const { clientSecret: _, ...rest } = whole;
    expect(await put(rest)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'clientSecret' }] },
    });
  });

  test('I2 a connection for an unverified domain can be saved; enabling it is refused with the request to send', async () => {
    const { put, whole, org, domain } = await admin();
    expect(await put({ ...whole, enabled: true })).toMatchObject({
      status: 409,
      body: { code: 'domain_unverified' },
    });
    expect((await put(whole)).status).toBe(200);
    const refused = await put({ ...whole, enabled: true });
    expect(refused.body.hint).toContain(`POST /api/v1/orgs/${org.slug}/domains/${domain}/verify`);
    await verifiedDomain(idctl, org.slug, domain);
    expect((await put({ ...whole, enabled: true })).body.enabled).toBe(true);
  });

  test('I2 a connection loses its domain when another organization verifies it, and cannot be saved with it again', async () => {
    const [one, two] = [await admin(), await admin()];
    expect((await one.put(one.whole)).status).toBe(200);
    expect((await two.put({ ...two.whole, emailDomain: one.domain })).status).toBe(200);
    await verifiedDomain(idctl, one.org.slug, one.domain);
    const lost = await two.client.get(`/api/v1/orgs/${two.org.slug}/sso`);
    expect(lost.body).toMatchObject({ emailDomain: null, enabled: false });
    const { items } = await listEvents(idctl.operator(), {
      org: two.org.slug,
      kind: 'sso.domain.lost',
      limit: 5,
    });
    expect(items).toHaveLength(1);
    const refused = await two.put({ ...two.whole, emailDomain: one.domain });
    expect(refused).toMatchObject({ status: 409, body: { code: 'domain_taken' } });
  });

  test.each([
    [{ emailDomain: 'localhost' }, 'emailDomain'],
    [{ issuer: 'ftp://idp.example' }, 'issuer'],
    [{ issuer: 'https://idp.example/?x=1' }, 'issuer'],
    [{ clientId: '' }, 'clientId'],
    [{ enabled: 'yes' }, 'enabled'],
    [{ absentGroups: 'some' }, 'absentGroups'],
    [{ groupsClaim: '' }, 'groupsClaim'],
    [{ redirectUri: 'nowhere' }, 'redirectUri'],
    [{ scope: 'openid' }, 'scope'],
  ])('the input %j is refused with 400 for %s, and nothing is saved', async (wrong, path) => {
    const { put, whole, client, org } = await admin();
    expect(await put({ ...whole, ...wrong })).toMatchObject({
      status: 400,
      body: { errors: [{ path }] },
    });
    expect((await client.get(`/api/v1/orgs/${org.slug}/sso`)).status).toBe(404);
  });
});

async function reasons(org: string): Promise<unknown[]> {
  const { items } = await listEvents(idctl.operator(), {
    org,
    kind: 'sso.signin.refused',
    limit: 50,
  });
  return items.map(({ data }) => data['reason']);
}
