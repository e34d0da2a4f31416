import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Access, type Method, routeTo } from '../../src/http/route.ts';
import { openDoor } from '../support/door.ts';

const own = 'http://id.example.test';
const friend = 'https://app.example.test';
const plain = (method: Method, path: string, access: Access) =>
  routeTo(access, method, path, {
    summary: 'Test',
    input: z.strictObject({}),
    output: z.object({ kind: z.string() }),
    run: (ctx) => ctx.actor,
  });
const open = (corsOrigins: string[] = []) =>
  openDoor(
    [
      plain('GET', '/api/v1/me', 'me.see'),
      plain('POST', '/api/v1/me', 'me.see'),
      plain('DELETE', '/api/v1/me', 'me.see'),
      plain('POST', '/api/v1/auth/login', 'public'),
    ],
    { http: { corsOrigins } },
  );
const cookie = 'access_token=good';

test.each([
  ['a foreign Origin', { origin: 'https://evil.test' }],
  ['the Origin null', { origin: 'null' }],
  ['an Origin of another scheme', { origin: 'https://id.example.test' }],
  ['an Origin of another port', { origin: 'http://id.example.test:81' }],
  ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
  ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }],
  ['our Origin but Sec-Fetch-Site: cross-site', { origin: own, 'sec-fetch-site': 'cross-site' }],
  [
    'a Basic header beside a foreign Origin',
    { authorization: 'Basic eDp5', origin: 'https://evil.test' },
  ],
])('interface page: an unsafe request with a cookie and %s is refused', async (_name, headers) => {
  const door = await open();
  for (const method of ['POST', 'DELETE']) {
    const answer = await door.send(method, '/api/v1/me', { headers: { ...headers, cookie } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'origin_refused' } });
  }
  expect((await door.post('/api/v1/auth/login', {}, headers)).status).toBe(403);
  expect((await door.get('/api/v1/me', { ...headers, cookie })).status).toBe(200);
});

test.each([
  ['a cookie and neither header', { cookie }],
  ['a cookie and our Origin', { cookie, origin: own }],
  [
    'a cookie, our Origin and Sec-Fetch-Site: same-origin',
    { cookie, origin: own, 'sec-fetch-site': 'same-origin' },
  ],
  ['a Bearer token', { authorization: 'Bearer good', origin: 'https://evil.test' }],
  ['an API key', { 'x-api-key': 'good', 'sec-fetch-site': 'cross-site' }],
])('interface page: an unsafe request with %s is accepted', async (_name, headers) => {
  const door = await open();
  expect((await door.post('/api/v1/me', {}, headers)).status).toBe(200);
});

test('interface page: CORS is off by default', async () => {
  const door = await open();
  const preflight = await door.send('OPTIONS', '/api/v1/me', {
    headers: { origin: friend, 'access-control-request-method': 'POST' },
  });
  expect(preflight.status).toBe(405);
  expect(
    Object.keys(preflight.headers).filter((name) => name.startsWith('access-control')),
  ).toEqual([]);
});

test('interface page: http.corsOrigins allows exact origins, without cookies', async () => {
  const door = await open([friend]);
  const preflight = await door.send('OPTIONS', '/api/v1/me', {
    headers: { origin: friend, 'access-control-request-method': 'POST' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': friend,
    'access-control-allow-headers': 'authorization, content-type, x-api-key',
  });
  expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
  const headers = { origin: friend, 'sec-fetch-site': 'cross-site' };
  const called = await door.post('/api/v1/me', {}, { ...headers, authorization: 'Bearer good' });
  expect([called.status, called.headers['access-control-allow-origin']]).toEqual([200, friend]);
  expect(called.headers['vary']).toContain('Origin');
  expect((await door.post('/api/v1/auth/login', {}, headers)).status).toBe(200);
  for (const sent of [cookie, 'refresh_token=x']) {
    const withCookie = await door.post('/api/v1/auth/login', {}, { ...headers, cookie: sent });
    expect(withCookie.body.code).toBe('origin_refused');
  }
  for (const origin of [
    `${friend}.evil.test`,
    'http://app.example.test',
    'https://APP.example.test',
  ]) {
    const stranger = await door.get('/api/v1/me', { origin, 'x-api-key': 'good' });
    expect(stranger.headers['access-control-allow-origin']).toBeUndefined();
  }
});
