import { afterAll, beforeAll, expect, test } from 'vitest';
import { Session } from '../../src/database/models/session.ts';
import { disableUser, enableUser } from '../../src/services/people/users/operations.ts';
import { organization, password, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

test('§5.2 a password sign-in answers with the session and sets the cookies, HttpOnly and SameSite=Lax', async () => {
  const { email } = await person(idctl);
  const answer = await idctl.client().post('/api/v1/auth/login', { email, password });
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.body).sort()).toEqual([
    'accessToken',
    'expiresIn',
    'refreshToken',
    'tokenType',
    'user',
  ]);
  expect(answer.body).toMatchObject({
    tokenType: 'Bearer',
    expiresIn: 900,
    user: { email, emailVerified: true },
  });
  expect(
    answer.cookies.map(({ name, path, httpOnly, sameSite }) => ({
      name,
      path,
      httpOnly,
      sameSite,
    })),
  ).toEqual([
    { name: 'access_token', path: '/', httpOnly: true, sameSite: 'lax' },
    { name: 'refresh_token', path: '/api/v1/auth', httpOnly: true, sameSite: 'lax' },
    { name: 'session_name', path: '/', httpOnly: true, sameSite: 'lax' },
    { name: 'known_browser', path: '/', httpOnly: true, sameSite: 'lax' },
  ]);
  expect(answer.headers['cache-control']).toBe('no-store');
});

test('§5.1 an access token as Bearer, x-api-key or cookie authenticates the same person', async () => {
  const { email, id } = await person(idctl);
  const { accessToken } = await signedIn(idctl, email);
  const client = idctl.client();
  for (const headers of [
    { authorization: `Bearer ${accessToken}` },
    { 'x-api-key': accessToken },
    { cookie: `access_token=${accessToken}` },
  ]) {
    const answer = await client.get('/api/v1/me', headers);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id, email, twoFactorEnabled: false, organizations: [] });
  }
});

test('P7 an unknown address, a wrong password and a disabled account get the same answer', async () => {
  const known = await person(idctl);
  const disabled = await person(idctl);
  await disableUser(idctl.operator(), { user: disabled.id });
  const tries = [
    { email: 'nobody@example.test', password },
    { email: known.email, password: 'wrong horse battery' },
    { email: disabled.email, password },
  ];
  const answers = await Promise.all(
    tries.map((body) => idctl.client().post('/api/v1/auth/login', body)),
  );
  const seen = answers.map(({ status, body, cookies }) => ({
    status,
    body: { ...body, requestId: '' },
    cookies,
  }));
  expect(seen[0]).toMatchObject({ status: 401, body: { code: 'signin_failed' }, cookies: [] });
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
});

test('§4.4 refresh takes the token from the body or the cookie and answers with a new pair', async () => {
  const { email } = await person(idctl);
  const browser = await signedIn(idctl, email);
  const byCookie = await browser.post('/api/v1/auth/refresh');
  expect(byCookie.status).toBe(200);
  expect(byCookie.body.refreshToken).not.toBe(browser.refreshToken);
  const byBody = await idctl
    .client()
    .post('/api/v1/auth/refresh', { refreshToken: byCookie.body.refreshToken });
  expect(byBody.status).toBe(200);
  const me = await idctl
    .client()
    .get('/api/v1/me', { authorization: `Bearer ${byBody.body.accessToken}` });
  expect(me.status).toBe(200);
});

test('P4 twenty concurrent refreshes of one token return the same successor', async () => {
  const { email } = await person(idctl);
  const { refreshToken } = await signedIn(idctl, email);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => idctl.client().post('/api/v1/auth/refresh', { refreshToken })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(new Set(answers.map(({ body }) => body.refreshToken)).size).toBe(1);
});

test('P4 a rotated refresh token that is used after the grace period ends the whole session', async () => {
  const { email } = await person(idctl);
  const { refreshToken } = await signedIn(idctl, email);
  const renewed = await idctl.client().post('/api/v1/auth/refresh', { refreshToken });
  idctl.wait(31);
  const replayed = await idctl.client().post('/api/v1/auth/refresh', { refreshToken });
  expect(replayed).toMatchObject({ status: 401, body: { code: 'invalid_credential' } });
  const heir = await idctl
    .client()
    .post('/api/v1/auth/refresh', { refreshToken: renewed.body.refreshToken });
  expect(heir.status).toBe(401);
  const me = await idctl
    .client()
    .get('/api/v1/me', { authorization: `Bearer ${renewed.body.accessToken}` });
  expect(me.status).toBe(401);
});

test('P4 a refresh token expires after two weeks without use, and a session after thirty days even if used', async () => {
  const { email } = await person(idctl);
  const { refreshToken } = await signedIn(idctl, email);
  let current = refreshToken;
  for (const days of [13, 13]) {
    idctl.wait(days * 86_400);
    const answer = await idctl.client().post('/api/v1/auth/refresh', { refreshToken: current });
    expect(answer.status).toBe(200);
    current = answer.body.refreshToken;
  }
  idctl.wait(4 * 86_400 + 1);
  expect(
    (await idctl.client().post('/api/v1/auth/refresh', { refreshToken: current })).status,
  ).toBe(401);
  const other = await signedIn(idctl, email);
  idctl.wait(14 * 86_400 + 1);
  expect(
    (await idctl.client().post('/api/v1/auth/refresh', { refreshToken: other.refreshToken }))
      .status,
  ).toBe(401);
});

test('P4 a refresh counts as a use of the session: one that is only refreshed stays in the list', async () => {
  const client = await signedIn(idctl, (await person(idctl)).email);
  for (const days of [8, 8]) {
    idctl.wait(days * 24 * 3600);
    expect((await client.post('/api/v1/auth/refresh')).status).toBe(200);
  }
  const { items } = (await client.get('/api/v1/me/sessions')).body;
  expect(items).toMatchObject([{ current: true }]);
});

test('§7 an access token expires after 15 minutes and is then refused with 401 and WWW-Authenticate', async () => {
  const { email } = await person(idctl);
  const { accessToken } = await signedIn(idctl, email);
  idctl.wait(901);
  const answer = await idctl.client().get('/api/v1/me', { authorization: `Bearer ${accessToken}` });
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_credential' } });
  expect(answer.headers['www-authenticate']).toContain('Bearer');
});

test('§4.4 logout clears the cookies and ends the session on the server', async () => {
  const { email } = await person(idctl);
  const browser = await signedIn(idctl, email);
  const answer = await browser.post('/api/v1/auth/logout');
  expect(answer.status).toBe(204);
  expect([...browser.jar.keys()]).toEqual(['known_browser']);
  const later = idctl.client();
  expect(
    (await later.get('/api/v1/me', { authorization: `Bearer ${browser.accessToken}` })).status,
  ).toBe(401);
  expect(
    (await later.post('/api/v1/auth/refresh', { refreshToken: browser.refreshToken })).status,
  ).toBe(401);
});

test('P2 a disabled account is refused at its next request, and its sessions stay ended once it is enabled', async () => {
  const { email, id } = await person(idctl);
  const browser = await signedIn(idctl, email);
  await disableUser(idctl.operator(), { user: id });
  expect((await browser.get('/api/v1/me')).status).toBe(401);
  expect(await Session.count({ where: { accountId: id, endedAt: null } })).toBe(0);
  await enableUser(idctl.operator(), { user: id });
  expect((await browser.get('/api/v1/me')).status).toBe(401);
});

test('resume keeps the session and redirects only to a path of this instance', async () => {
  const { email } = await person(idctl);
  const browser = await signedIn(idctl, email);
  const answer = await browser.get('/api/v1/auth/resume?returnTo=%2Fprojects%3Fa%3D1');
  expect(answer.status).toBe(302);
  expect(answer.headers['location']).toBe('/projects?a=1');
  expect((await browser.get('/api/v1/me')).status).toBe(200);
  for (const returnTo of [
    '//evil.test',
    '/.//evil.test',
    '/x/..//evil.test',
    '/./\\evil.test',
    '/\\evil.test',
    'https://evil.test/',
    'javascript:alert(1)',
  ]) {
    const refused = await browser.get(
      `/api/v1/auth/resume?returnTo=${encodeURIComponent(returnTo)}`,
    );
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'returnTo' }] } });
  }
});

test('GET /me lists the person’s organizations and roles; PATCH changes only name and locale', async () => {
  const { owner, id } = await organization(idctl);
  const browser = await signedIn(idctl, owner.email);
  const me = await browser.get('/api/v1/me');
  expect(me.body.organizations).toMatchObject([{ id, role: 'owner', projects: [] }]);
  const changed = await browser.send('PATCH', '/api/v1/me', {
    body: { name: 'Ada L.', locale: 'de' },
  });
  expect(changed.body).toMatchObject({ name: 'Ada L.', locale: 'de' });
  const refused = await browser.send('PATCH', '/api/v1/me', { body: { email: 'x@example.test' } });
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'email' }] } });
});

test('P4 no access token outlives its session, which lasts thirty days', async () => {
  const { email } = await person(idctl);
  const browser = await signedIn(idctl, email);
  const day = 86_400;
  const answers = [];
  for (const seconds of [13 * day, 13 * day, 4 * day - 60]) {
    idctl.wait(seconds);
    answers.push(await browser.post('/api/v1/auth/refresh'));
  }
  const [first, second, last = 0] = answers.map(({ body }) => Number(body.expiresIn));
  expect([first, second]).toEqual([900, 900]);
  // A busy machine takes seconds between the refreshes.
  expect(last).toBeLessThanOrEqual(60);
  expect(last).toBeGreaterThan(30);
  idctl.wait(60);
  const authorization = `Bearer ${answers[2]?.body.accessToken}`;
  expect((await idctl.client().get('/api/v1/me', { authorization })).status).toBe(401);
});
