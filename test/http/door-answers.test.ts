import { expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../src/errors.ts';
import { clearedSession, sessionCookies } from '../../src/http/cookies.ts';
import { routeTo } from '../../src/http/route.ts';
import { healthRoutes } from '../../src/http/routes/health.ts';
import { openDoor } from '../support/door.ts';

const nothing = z.strictObject({});
const tokens = {
  accessToken: 'at',
  refreshToken: 'rt',
  sessionName: 's',
  expiresIn: 900,
  refreshExpiresIn: 1_209_600,
};
const tokenView = z.object({ accessToken: z.string(), refreshToken: z.string() });
const common = { summary: 'Test', input: nothing } as const;

const login = routeTo('public', 'POST', '/api/v1/auth/login', {
  ...common,
  output: tokenView,
  cookies: sessionCookies,
  run: () => tokens,
});
const logout = routeTo('public', 'POST', '/api/v1/auth/logout', {
  ...common,
  cookies: clearedSession,
  run: () => undefined,
});
const refresh = routeTo('public', 'POST', '/api/v1/auth/refresh', {
  ...common,
  input: z.strictObject({ refreshToken: z.string().min(1) }),
  output: z.object({ got: z.string() }),
  filled: { refreshToken: { cookie: 'refresh_token', orGiven: true } },
  run: (_ctx, input) => ({ got: input.refreshToken }),
});
const start = routeTo('public', 'GET', '/auth/sso/start', {
  ...common,
  output: z.object({ authorizationUrl: z.string() }),
  redirect: { to: (view) => view.authorizationUrl },
  cookies: () => [{ name: 'sso_flow', value: 'f', maxAge: 600 }],
  run: () => ({ authorizationUrl: 'https://idp.example/authorize?x=1&y=a%20b' }),
});
const resume = routeTo('public', 'GET', '/api/v1/auth/resume', {
  ...common,
  output: tokenView,
  redirect: { to: () => '/', always: true },
  cookies: sessionCookies,
  run: () => tokens,
});
const fault = routeTo('public', 'GET', '/api/v1/fault', {
  ...common,
  output: nothing,
  run: () => {
    throw new Error('the secret is hunter2');
  },
});
const browser = routeTo('public', 'GET', '/auth/browser', {
  ...common,
  input: z.strictObject({ browser: z.boolean() }),
  output: z.object({ browser: z.boolean() }),
  filled: { browser: 'fetchMetadata' },
  run: (_ctx, input) => input,
});
const open = (options: Parameters<typeof openDoor>[1] = {}) =>
  openDoor([login, logout, refresh, start, resume, fault, browser, ...healthRoutes], options);

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('interface page: signing in sets the cookies with their paths and lifetimes', async () => {
  const door = await open();
  const answer = await door.post('/api/v1/auth/login');
  expect(answer.body).toEqual({ accessToken: 'at', refreshToken: 'rt' });
  const shared = { httpOnly: true, sameSite: 'lax' };
  expect(answer.cookies).toEqual([
    { ...shared, name: 'access_token', value: 'at', path: '/', maxAge: 1_209_600 },
    { ...shared, name: 'refresh_token', value: 'rt', path: '/api/v1/auth', maxAge: 1_209_600 },
    { ...shared, name: 'session_name', value: 's', path: '/', maxAge: 1_209_600 },
  ]);
});

test('§5.2 the cookies are Secure when the base URL is https', async () => {
  const door = await open({ baseUrl: 'https://id.example.test' });
  const { cookies } = await door.post('/api/v1/auth/login');
  expect(cookies.map(({ secure }) => secure)).toEqual([true, true, true]);
});

test('§4.4 signing out clears the cookies', async () => {
  const door = await open();
  const answer = await door.post('/api/v1/auth/logout');
  expect(answer.status).toBe(204);
  expect(
    answer.cookies.map(({ name, value, maxAge, path }) => [name, value, maxAge, path]),
  ).toEqual([
    ['access_token', '', 0, '/'],
    ['refresh_token', '', 0, '/api/v1/auth'],
    ['session_name', '', 0, '/'],
  ]);
});

test('§5.2 the refresh token comes from the cookie or from the body', async () => {
  const door = await open();
  const headers = { cookie: 'refresh_token=from-cookie' };
  expect((await door.post('/api/v1/auth/refresh', undefined, headers)).body.got).toBe(
    'from-cookie',
  );
  expect(
    (await door.post('/api/v1/auth/refresh', { refreshToken: 'given' }, headers)).body.got,
  ).toBe('given');
  expect((await door.post('/api/v1/auth/refresh')).body.errors).toEqual([
    { path: 'refreshToken', message: 'is required' },
  ]);
  const twice = { cookie: 'refresh_token=a; refresh_token=b' };
  expect((await door.post('/api/v1/auth/refresh', undefined, twice)).status).toBe(401);
});

test('interface page: a browser is redirected; other clients get JSON, unless the route always redirects', async () => {
  const door = await open();
  const json = await door.get('/auth/sso/start');
  expect(json.body.authorizationUrl).toBe('https://idp.example/authorize?x=1&y=a%20b');
  expect(json.headers['vary']).toContain('Accept');
  const seen = await door.get('/auth/sso/start', html);
  expect([seen.status, seen.headers['location'], seen.body]).toEqual([
    302,
    json.body.authorizationUrl,
    '',
  ]);
  expect(seen.cookies).toMatchObject([{ name: 'sso_flow', value: 'f', path: '/', httpOnly: true }]);
  const resumed = await door.get('/api/v1/auth/resume');
  expect([resumed.status, resumed.headers['location'], resumed.cookies.length]).toEqual([
    302,
    '/',
    3,
  ]);
});

test('S3 the server recognizes a browser by its fetch metadata, and refuses a parameter that claims it', async () => {
  const door = await open();
  expect((await door.get('/auth/browser')).body).toEqual({ browser: false });
  expect((await door.get('/auth/browser', { 'sec-fetch-mode': 'navigate' })).body).toEqual({
    browser: true,
  });
  expect((await door.get('/auth/browser?browser=')).status).toBe(400);
});

test('interface page: every answer carries its request id and the security headers', async () => {
  const door = await open();
  for (const path of ['/healthz', '/api/v1/fault', '/nowhere']) {
    const { headers } = await door.get(path, { 'x-request-id': 'chosen-by-the-client' });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'content-security-policy':
        "default-src 'none';frame-ancestors 'none';base-uri 'none';form-action 'none'",
    });
    for (const name of [
      'strict-transport-security',
      'etag',
      'x-powered-by',
      'access-control-allow-origin',
    ]) {
      expect(headers[name]).toBeUndefined();
    }
  }
  const secure = await open({ baseUrl: 'https://id.example.test' });
  expect((await secure.get('/healthz')).headers['strict-transport-security']).toBe(
    'max-age=31536000',
  );
});

test('interface page: answers with credentials and problem objects are not cached', async () => {
  const door = await open();
  for (const path of ['/api/v1/auth/resume', '/auth/sso/start', '/api/v1/nowhere']) {
    expect((await door.get(path)).headers['cache-control']).toBe('no-store');
  }
});

test('interface page: unknown paths get 404 and wrong methods 405 with Allow, each with a problem object', async () => {
  const door = await open();
  for (const path of ['/', '/healthz/', '/HEALTHZ', '/api/v1/orgs', '//', '/%']) {
    const answer = await door.get(path);
    expect(answer).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
    expect(answer.headers['content-type']).toBe('application/problem+json');
  }
  const wrong = await door.post('/healthz', {});
  expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
  expect(wrong.headers['allow']).toBe('GET, HEAD');
  for (const method of ['PUT', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    const answer = await door.send(method, '/api/v1/auth/login');
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
  }
});

test('a bug is answered with 500 and without its message; only the log has the message', async () => {
  const door = await open();
  const answer = await door.get('/api/v1/fault');
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } });
  expect(JSON.stringify(answer.body)).not.toContain('hunter2');
  const line = door.log.find(({ msg }) => msg === 'bug');
  expect(line).toMatchObject({ requestId: answer.headers['x-request-id'], level: 'error' });
  expect(JSON.stringify(line)).toContain('hunter2');
});

test('a database error is answered as the refusal that the app turns it into', async () => {
  const gone = new Refusal('database_unreachable', 'The database cannot be reached.');
  const door = await open({ app: { refusalOf: () => gone } });
  const answer = await door.get('/api/v1/fault');
  expect(answer).toMatchObject({ status: 503, body: { code: 'database_unreachable' } });
  expect(answer.headers['retry-after']).toBe('1');
});

test('/readyz is 503 until the app is ready; /healthz is 200 from the start', async () => {
  const ready = () => Promise.reject(new Refusal('not_ready', 'Migrations are pending.'));
  const door = await open({ app: { ready } });
  expect(await door.get('/readyz')).toMatchObject({ status: 503, body: { code: 'not_ready' } });
  expect((await door.get('/healthz')).body).toEqual({ status: 'ok' });
});
