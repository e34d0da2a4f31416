import { SignJWT } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account, type EmailProof } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Session } from '../../src/database/models/session.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import {
  putProjectMember,
  removeProjectMember,
} from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { appOf, basic } from '../support/apps.ts';
import { password, person } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { application, browserOf, walk, walkTo, walkToDenial } from '../support/relying-party.ts';

// These tests attack the OpenID provider, as RFC 9700 and OpenID Connect Core describe.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { tokenRequests: 1000 } });
});
afterAll(() => idctl.close());

type Application = Awaited<ReturnType<typeof application>>;

const redirectUri = 'https://app.example.test/callback';

/** Gets a code for the browser. Returns it with the callback and the application's checks. */
async function codeOf(app: Application, browser: Client, params: Record<string, string> = {}) {
  const { path, checks } = await app.begin(params);
  const callback = new URL(await walk(browser, path));
  return { callback, code: callback.searchParams.get('code') ?? '', checks };
}

const redeem = (app: Pick<Application, 'clientId' | 'secret'>, fields: Record<string, string>) =>
  idctl.client().form('/api/v1/oauth/token', {
    grant_type: 'authorization_code',
    redirect_uri: redirectUri,
    client_id: app.clientId,
    client_secret: app.secret,
    ...fields,
  });

const refresh = (app: Application, token: string) =>
  redeem(app, { grant_type: 'refresh_token', refresh_token: token });

const userinfo = (token: string) =>
  idctl.client().get('/oauth/userinfo', { authorization: `Bearer ${token}` });

const offline = { scope: 'openid offline_access' };

test('O10 mix-up: each answer names its issuer, and openid-client refuses another issuer', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { callback, checks } = await codeOf(app, browser);
  expect(callback.searchParams.get('iss')).toBe(idctl.baseUrl);
  callback.searchParams.set('iss', 'https://other.example.test');
  await expect(openid.authorizationCodeGrant(app.config, callback, checks)).rejects.toThrow();
  const denied = new URL(await walk(browser, (await app.begin({ prompt: 'other' })).path));
  expect(denied.searchParams.get('iss')).toBe(idctl.baseUrl);
});

test('O10 code injection: a code without the verifier of its request, or with another, is refused', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { code, checks } = await codeOf(app, browser);
  const another = openid.randomPKCECodeVerifier();
  expect((await redeem(app, { code })).body.error).toBe('invalid_grant');
  expect((await redeem(app, { code, code_verifier: another })).body.error).toBe('invalid_grant');
  const right = { code, code_verifier: checks.pkceCodeVerifier };
  expect((await redeem(app, { ...right, redirect_uri: `${redirectUri}/x` })).body.error).toBe(
    'invalid_grant',
  );
  expect((await redeem(app, right)).status).toBe(200);
});

test('O10 open redirect: a redirect URI that does not match a registered one exactly is refused without a redirect', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  for (const uri of [
    'https://evil.example.test/callback',
    `${redirectUri}/`,
    `${redirectUri}?x=1`,
    'https://app.example.test/callback#x',
    'https://app.example.test:443/callback',
    'https://app.example.test/callback/../callback',
    'https://APP.example.test/callback',
  ]) {
    const { path } = await app.begin({ redirect_uri: uri });
    const answer = await walkTo(browser, path);
    expect([uri, answer.status, answer.headers['location']]).toEqual([uri, 400, undefined]);
  }
  const unknown = (await app.begin()).path.replace(app.clientId, 'client-none');
  expect((await walkTo(browser, unknown)).headers['location']).toBeUndefined();
});

test('O10 foreign id_token_hint: a token that idctl did not issue to this client is refused', async () => {
  const app = await application(idctl);
  const other = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const theirs = (await other.signIn(await browserOf(idctl, other.email))).id_token ?? '';
  const forged = await new SignJWT({ sub: app.member.id, aud: app.clientId, iss: idctl.baseUrl })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from(app.secret));
  for (const hint of [theirs, forged, 'not a token']) {
    const back = new URL(await walk(browser, (await app.begin({ id_token_hint: hint })).path));
    expect(back.searchParams.get('error')).toBe('invalid_request');
    const query = new URLSearchParams({ id_token_hint: hint, client_id: app.clientId });
    const page = await walkTo(browser, `/oauth/logout?${query}`);
    expect([page.status, page.headers['location']]).toEqual([
      hint === theirs ? 400 : 200,
      undefined,
    ]);
  }
  expect((await browser.get('/api/v1/me')).status).toBe(200);
});

test.each([
  ['prompt=login', { prompt: 'login' }],
  ['max_age', { max_age: '60' }],
])('O10 a session from before the request does not answer %s', async (_, asked) => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const createdAt = new Date(Date.now() - 120_000);
  await transaction(() => Session.update({ createdAt }, { where: { accountId: app.member.id } }));
  const page = await walkTo(browser, (await app.begin(asked)).path);
  expect(page.body).toContain('Sign in to continue to');
  // The path that the sign-in page leads to afterwards.
  const [back = ''] = /\/oauth\/authorize\/[\w-]{43}/.exec(String(page.body)) ?? [];
  expect(back).not.toBe('');
  const again = await walkTo(browser, back);
  expect([again.status, again.headers['location']]).toEqual([200, undefined]);
  expect(again.body).toContain('Sign in to continue to');
});

test('O10 if id_token_hint names one person and another signs in, the application gets an error and no code', async () => {
  const app = await application(idctl);
  const colleague = await person(idctl);
  const email = colleague.email ?? '';
  await addMember(idctl.operator(), { org: app.org.slug, email, role: 'member' });
  const hint = (await app.signIn(await browserOf(idctl, app.email))).id_token ?? '';
  const asked = { id_token_hint: hint, login_hint: email };
  const hinted = async () => (await app.begin(asked)).path;
  const page = await open(idctl.client({ keepCookies: true }), await hinted());
  const done = await page.submit('/login/password', { password });
  const back = new URL(String(done.headers['location']));
  expect(back.searchParams.get('error')).toBe('login_required');
  expect(back.searchParams.get('code')).toBeNull();
  expect(await walk(await browserOf(idctl, app.email), await hinted())).toContain('code=');
});

test('O10 email_verified is true only for an address that was proved for good', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const verifiedAs = async (emailProof: EmailProof) => {
    await transaction(() => Account.update({ emailProof }, { where: { id: app.member.id } }));
    return (await app.signIn(browser)).claims()?.['email_verified'];
  };
  for (const proof of ['mail', 'domain', 'operator', 'social'] as const)
    expect([proof, await verifiedAs(proof)]).toEqual([proof, true]);
  for (const proof of ['none', 'auto'] as const)
    expect([proof, await verifiedAs(proof)]).toEqual([proof, false]);
});

test('O10 downgraded PKCE: a request without a challenge, or with a plain one, is refused', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { path } = await app.begin({ code_challenge_method: 'plain' });
  expect(new URL(await walk(browser, path)).searchParams.get('error')).toBe('invalid_request');
  const bare = path.replace(/&code_challenge(_method)?=[^&]*/g, '');
  expect(new URL(await walk(browser, bare)).searchParams.get('error')).toBe('invalid_request');
  const lax = await application(idctl, { pkce: false });
  const member = await browserOf(idctl, lax.email);
  const without = (await lax.begin()).path.replace(/&code_challenge(_method)?=[^&]*/g, '');
  const code = new URL(await walk(member, without)).searchParams.get('code') ?? '';
  const verifier = openid.randomPKCECodeVerifier();
  expect((await redeem(lax, { code, code_verifier: verifier })).body.error).toBe('invalid_grant');
});

test('O10 a code works once: a second use revokes the tokens of the first', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { code, checks } = await codeOf(app, browser, offline);
  const given = { code, code_verifier: checks.pkceCodeVerifier };
  const first = await redeem(app, given);
  expect((await userinfo(first.body.access_token)).status).toBe(200);
  expect((await redeem(app, given)).body.error).toBe('invalid_grant');
  expect((await userinfo(first.body.access_token)).status).toBe(401);
  expect((await refresh(app, first.body.refresh_token)).body.error).toBe('invalid_grant');
});

test('O10 if one code or refresh token is used several times at once, at most one request gets tokens', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { code, checks } = await codeOf(app, browser, offline);
  const given = { code, code_verifier: checks.pkceCodeVerifier };
  const answers = await Promise.all(Array.from({ length: 5 }, () => redeem(app, given)));
  const successes = answers.filter(({ status }) => status === 200);
  expect(successes.length).toBeLessThanOrEqual(1);
  // The other requests are second uses, so the tokens of the first are revoked.
  for (const { body } of successes) expect((await userinfo(body.access_token)).status).toBe(401);
  const tokens = await app.signIn(browser, offline);
  const token = tokens.refresh_token ?? '';
  const refreshed = await Promise.all(Array.from({ length: 5 }, () => refresh(app, token)));
  expect(refreshed.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
});

test('O10 a replayed refresh token revokes its whole family, with an event', async () => {
  const app = await application(idctl);
  const tokens = await app.signIn(await browserOf(idctl, app.email), offline);
  const first = tokens.refresh_token ?? '';
  const second = await refresh(app, first);
  expect(second.status).toBe(200);
  expect((await refresh(app, first)).body.error).toBe('invalid_grant');
  expect((await refresh(app, second.body.refresh_token)).body.error).toBe('invalid_grant');
  expect((await userinfo(second.body.access_token)).status).toBe(401);
  const where = { kind: 'client.reuse.detected', organizationId: app.org.id };
  expect(await Event.count({ where })).toBe(1);
});

test('O10 wrong client: a client cannot use, see or revoke the code and tokens of another client of its organization', async () => {
  const app = await application(idctl);
  const other = await application(idctl, { organizationId: app.org.id, name: 'Wiki' });
  const browser = await browserOf(idctl, app.email);
  const { code, checks } = await codeOf(app, browser, offline);
  const given = { code, code_verifier: checks.pkceCodeVerifier };
  expect((await redeem(other, given)).body.error).toBe('invalid_grant');
  expect((await redeem({ ...app, secret: other.secret }, given)).body.error).toBe('invalid_client');
  const { access_token: token, refresh_token: again } = (await redeem(app, given)).body;
  expect((await refresh(other, again)).body.error).toBe('invalid_grant');
  const ask = (path: string, of: Application) =>
    idctl.client().form(`/api/v1/oauth/${path}`, { token }, basic(of.clientId, of.secret));
  expect((await ask('introspect', other)).body).toEqual({ active: false });
  expect((await ask('revoke', other)).status).toBe(200);
  expect((await ask('introspect', app)).body).toMatchObject({ active: true, sub: app.member.id });
  expect((await ask('revoke', app)).status).toBe(200);
  expect((await ask('introspect', app)).body).toEqual({ active: false });
});

test('O12 the secret of a client that a restore has suspended is refused', async () => {
  const app = await application(idctl);
  const { code, checks } = await codeOf(app, await browserOf(idctl, app.email));
  await transaction(() => app.row.update({ suspendedAt: new Date() }));
  const fields = { code, code_verifier: checks.pkceCodeVerifier };
  const refused = await redeem(app, fields);
  expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client']);
  await transaction(() => app.row.update({ suspendedAt: null }));
  expect((await redeem(app, fields)).status).toBe(200);
});

test('O10 introspection says inactive once the person has lost the project role, though the session continues', async () => {
  const app = await application(idctl);
  const { slug: org } = app.org;
  const { id, slug: project } = await createProject(idctl.operator(), { org, name: 'Web' });
  await transaction(() => app.row.update({ projectId: id, role: 'viewer' }));
  const membership = { org, project, user: app.email };
  await putProjectMember(idctl.operator(), { ...membership, role: 'viewer' });
  const browser = await browserOf(idctl, app.email);
  const { access_token: token } = await app.signIn(browser);
  const ask = () =>
    idctl.client().form('/api/v1/oauth/introspect', { token }, basic(app.clientId, app.secret));
  expect((await ask()).body).toMatchObject({ active: true });
  await removeProjectMember(idctl.operator(), membership);
  expect((await browser.get('/api/v1/me')).status).toBe(200);
  expect((await ask()).body).toEqual({ active: false });
});

test('O10 a person of another organization gets access_denied, and the event does not name the person', async () => {
  const app = await application(idctl);
  const stranger = await application(idctl);
  const browser = await browserOf(idctl, stranger.email);
  const { page, back } = await walkToDenial(browser, (await app.begin()).path);
  expect([page.status, back.searchParams.get('error')]).toEqual([403, 'access_denied']);
  expect(back.searchParams.get('code')).toBeNull();
  expect(`${back.href} ${page.body}`).not.toContain(app.org.slug);
  expect(page.body).not.toContain(app.org.name);
  expect(page.body).not.toContain(app.email);
  const where = { kind: 'client.refused', organizationId: app.org.id };
  const [event] = await Event.findAll({ where });
  expect(event?.data).toMatchObject({ reason: 'not_a_member' });
  expect(event?.subject?.id).toBe(app.clientId);
  expect(JSON.stringify(event)).not.toContain(stranger.member.id);
  const rows = await select('SELECT id FROM provider_records WHERE client_id = $1', [app.row.id]);
  expect(rows).toEqual([]);
});

test('O10 a member who is removed between code and token does not get a token', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { code, checks } = await codeOf(app, browser);
  const other = await app.signIn(await browserOf(idctl, app.email), offline);
  await removeMember(idctl.operator(), { org: app.org.slug, user: app.member.id });
  const given = { code, code_verifier: checks.pkceCodeVerifier };
  expect((await redeem(app, given)).body.error).toBe('invalid_grant');
  expect((await refresh(app, other.refresh_token ?? '')).body.error).toBe('invalid_grant');
  expect((await userinfo(other.access_token)).status).toBe(401);
});

test('O10 when a session ends, its codes, access tokens and refresh tokens are invalid', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { code, checks } = await codeOf(app, browser);
  const tokens = await app.signIn(browser, offline);
  expect((await browser.post('/api/v1/auth/logout')).status).toBe(204);
  const given = { code, code_verifier: checks.pkceCodeVerifier };
  expect((await redeem(app, given)).body.error).toBe('invalid_grant');
  expect((await refresh(app, tokens.refresh_token ?? '')).body.error).toBe('invalid_grant');
  expect((await userinfo(tokens.access_token)).status).toBe(401);
  const fields = { token: tokens.access_token };
  const by = basic(app.clientId, app.secret);
  expect((await idctl.client().form('/api/v1/oauth/introspect', fields, by)).body).toEqual({
    active: false,
  });
});

test('O10 a PAT or bot token does not count as a session, neither in the cookie nor as Bearer', async () => {
  const app = await application(idctl);
  const pat = await createToken(idctl.operator(), { user: app.member.id, name: 'ci' });
  const bot = await (await appOf(idctl, { user: app.member.id })).mint();
  const { path } = await app.begin({ prompt: 'none' });
  for (const token of [pat.token, bot]) {
    for (const headers of [
      { cookie: `access_token=${token}` },
      { authorization: `Bearer ${token}` },
    ]) {
      const answer = await idctl.client().get(`${path}&again=1`, headers);
      expect(String(answer.headers['location'])).toContain('error=login_required');
    }
  }
});

test('O10 P3 the API and SCIM refuse an access token of the provider', async () => {
  const app = await application(idctl);
  const { access_token: token } = await app.signIn(await browserOf(idctl, app.email));
  await rotateScimToken(idctl.operator(), { org: app.org.slug });
  const by = { authorization: `Bearer ${token}` };
  expect((await idctl.client().get('/api/v1/me', by)).status).toBe(401);
  expect((await idctl.client().get('/api/v1/me', { 'x-api-key': token })).status).toBe(401);
  expect((await idctl.client().get('/api/v1/me', { cookie: `access_token=${token}` })).status).toBe(
    401,
  );
  const users = `/scim/v2/orgs/${app.org.id}/Users`;
  expect((await idctl.client().get(users, by)).status).toBeGreaterThanOrEqual(401);
});

test('O10 X4 the provider’s records contain no code, token or secret in plain text', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { code } = await codeOf(app, browser);
  const tokens = await app.signIn(browser, offline);
  const rows = JSON.stringify(await select('SELECT * FROM provider_records', []));
  for (const value of [code, tokens.access_token, tokens.refresh_token ?? '', app.secret]) {
    expect(value.length).toBeGreaterThan(20);
    expect(rows).not.toContain(value);
  }
});

test('O10 a browser that only has cookies of the provider is not signed in', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  await app.signIn(browser);
  const { path } = await app.begin({ prompt: 'login' });
  await walkTo(browser, path);
  const jar = [...browser.jar].filter(([name]) => name.startsWith('oauth'));
  const cookie = jar.map(([name, value]) => `${name}=${value}`).join('; ');
  expect(cookie).toContain('oauth_resume');
  const silent = (await app.begin({ prompt: 'none' })).path;
  const answer = await idctl.client().get(`${silent}&again=1`, { cookie });
  expect(String(answer.headers['location'])).toContain('error=login_required');
});

test('O10 an expired session authorizes nothing', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const tokens = await app.signIn(browser, offline);
  await transaction(() =>
    Session.update({ expiresAt: new Date() }, { where: { accountId: app.member.id } }),
  );
  expect((await refresh(app, tokens.refresh_token ?? '')).body.error).toBe('invalid_grant');
  const { path } = await app.begin({ prompt: 'none' });
  expect(await walk(browser, path)).toContain('error=login_required');
});

test('O10 sessions, codes and tokens of a disabled account stay invalid after it is enabled again', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const tokens = await app.signIn(browser, offline);
  const { code } = await codeOf(app, browser);
  const waiting = await app.begin({ prompt: 'none' });
  const refuse = async () => {
    expect((await refresh(app, tokens.refresh_token ?? '')).body.error).toBe('invalid_grant');
    expect((await redeem(app, { code })).body.error).toBe('invalid_grant');
    expect((await userinfo(tokens.access_token)).status).toBe(401);
    expect(await walk(browser, waiting.path)).toContain('error=login_required');
  };
  await disableUser(idctl.operator(), { user: app.member.id });
  await refuse();
  await enableUser(idctl.operator(), { user: app.member.id });
  await refuse();
});

test('O10 P8 a wrong client secret is refused, and recorded', async () => {
  const limited = await application(idctl);
  const wrong = await redeem({ ...limited, secret: 'cos_secret_wrong' }, { code: 'none' });
  expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
  const where = { kind: 'client.refused', organizationId: limited.org.id };
  expect((await Event.findOne({ where }))?.data).toMatchObject({ reason: 'wrong_secret' });
});

test('O10 I4 the token endpoint answers an unknown client exactly like a wrong secret', async () => {
  const app = await application(idctl);
  await person(idctl);
  const unknown = await redeem(
    { clientId: `client-${crypto.randomUUID()}`, secret: app.secret },
    {
      code: 'none',
    },
  );
  const known = await redeem({ ...app, secret: 'cos_secret_none' }, { code: 'none' });
  expect(unknown.body).toEqual(known.body);
});
