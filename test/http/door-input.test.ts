import { expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../src/errors.ts';
import { type Method, routeTo } from '../../src/http/route.ts';
import { openDoor } from '../support/door.ts';
import { sendBytes } from '../support/http.ts';

const fields = z.strictObject({
  org: z.string(),
  name: z.string().optional(),
  limit: z.coerce.number().int().max(200).default(50),
  deep: z.unknown().optional(),
});
const output = z.object({ org: z.string(), name: z.string().optional(), limit: z.number() });
const echo = (method: Method, path: string) =>
  routeTo('public', method, path, {
    summary: 'Echo',
    input: fields,
    output,
    run: (_ctx, given) => given,
  });

const open = () =>
  openDoor([
    echo('GET', '/api/v1/orgs/:org'),
    echo('PATCH', '/api/v1/orgs/:org'),
    echo('POST', '/api/v1/orgs'),
    routeTo('public', 'DELETE', '/api/v1/orgs/:org', {
      summary: 'Delete',
      input: fields,
      run: () => undefined,
    }),
    routeTo('public', 'GET', '/auth/sso/callback', {
      summary: 'Lenient',
      lenientQuery: true,
      filled: { org: { cookie: 'sso_flow' } },
      input: fields,
      output,
      run: (_ctx, given) => given,
    }),
  ]);

test('interface page: a route takes its path keys from the URL, and the rest from query or body', async () => {
  const door = await open();
  expect((await door.get('/api/v1/orgs/a%20b?limit=7')).body).toEqual({ org: 'a b', limit: 7 });
  const patched = await door.send('PATCH', '/api/v1/orgs/acme', { body: { name: 'Acme' } });
  expect(patched.body).toEqual({ org: 'acme', name: 'Acme', limit: 50 });
  const deleted = await door.send('DELETE', '/api/v1/orgs/acme');
  expect([deleted.status, deleted.body, deleted.headers['content-type']]).toEqual([
    204,
    '',
    undefined,
  ]);
  const head = await door.send('HEAD', '/api/v1/orgs/acme');
  expect([head.status, head.body]).toEqual([200, '']);
});

test.each([
  ['an unknown query key', 'GET', '/api/v1/orgs/acme?nam=x', undefined, 'nam'],
  ['a repeated query key', 'GET', '/api/v1/orgs/acme?name=a&name=b', undefined, 'name'],
  ['a path key in the query', 'GET', '/api/v1/orgs/acme?org=other', undefined, 'org'],
  ['a path key in the body', 'PATCH', '/api/v1/orgs/acme', { org: 'other' }, 'org'],
  ['an unknown body key', 'POST', '/api/v1/orgs', { org: 'a', isAdmin: true }, 'isAdmin'],
  ['a body key in the query', 'POST', '/api/v1/orgs?name=a', { org: 'a' }, 'name'],
  ['an array for a scalar', 'POST', '/api/v1/orgs', { org: ['a'] }, 'org'],
  ['an object for a scalar', 'POST', '/api/v1/orgs', { org: { $ne: 1 } }, 'org'],
  ['a missing field', 'POST', '/api/v1/orgs', {}, 'org'],
  ['no body at all', 'POST', '/api/v1/orgs', undefined, 'org'],
  ['a limit that is not a number', 'GET', '/api/v1/orgs/acme?limit=many', undefined, 'limit'],
])(
  'X6 %s is refused, and the refusal names the field',
  async (_name, method, path, body, field) => {
    const door = await open();
    const answer = await door.send(method, path, { body });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', errors: [{ path: field }] },
    });
  },
);

test('X6 an OAuth callback ignores unknown parameters and refuses repeated ones', async () => {
  const door = await open();
  const cookie = 'sso_flow=f1';
  const callback = await door.get('/auth/sso/callback?name=n&iss=x&org=forged', { cookie });
  expect(callback.body).toEqual({ org: 'f1', name: 'n', limit: 50 });
  expect((await door.get('/auth/sso/callback?iss=x&iss=y', { cookie })).body.errors).toEqual([
    { path: 'iss', message: 'is given more than once' },
  ]);
});

const nested = (levels: number) => `${'{"deep":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each([
  ['is malformed JSON', '{"org":', 400, 'invalid_json'],
  ['is a scalar', '"x"', 400, 'invalid_json'],
  ['is an array', '[]', 400, 'invalid_input'],
  ['is nested more than 32 deep', `{"org":"a","deep":${nested(32)}}`, 400, 'invalid_input'],
  [
    'is nested 40,000 deep',
    `{"org":"a","deep":${'['.repeat(40_000)}${']'.repeat(40_000)}}`,
    400,
    'invalid_input',
  ],
  ['contains a NUL character', '{"org":"a\\u0000b"}', 400, 'invalid_input'],
  ['contains __proto__', '{"org":"a","__proto__":{"name":"x"}}', 400, 'invalid_input'],
  ['is larger than 100 KiB', `{"org":"${'a'.repeat(100 * 1024)}"}`, 413, 'payload_too_large'],
])('interface page: a body that %s is refused', async (_name, body, status, code) => {
  const door = await open();
  expect(await door.send('POST', '/api/v1/orgs', { body })).toMatchObject({
    status,
    body: { code },
  });
});

test('interface page: a body nested 32 deep is accepted', async () => {
  const door = await open();
  const answer = await door.send('POST', '/api/v1/orgs', {
    body: `{"org":"a","deep":${nested(31)}}`,
  });
  expect(answer.status).toBe(200);
});

test.each([
  ['a body without a media type', { 'content-type': '' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['plain text', { 'content-type': 'text/plain' }],
  ['another JSON type', { 'content-type': 'application/scim+json' }],
  ['another charset', { 'content-type': 'application/json; charset=latin1' }],
  ['a compressed body', { 'content-encoding': 'gzip' }],
])('interface page: %s gets 415', async (_name, headers) => {
  const door = await open();
  const answer = await door.send('POST', '/api/v1/orgs', { body: { org: 'a' }, headers });
  expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
});

test('interface page: a chunked body over the limit is refused, and so is a body on a route that takes none', async () => {
  const door = await open();
  const head =
    'POST /api/v1/orgs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const chunk = `${(200_000).toString(16)}\r\n${'1'.repeat(200_000)}\r\n0\r\n\r\n`;
  expect(await sendBytes(door.url, head + chunk)).toMatch(
    /^HTTP\/1.1 413 .*"code":"payload_too_large"/s,
  );
  const get = await door.send('DELETE', '/api/v1/orgs/acme', { body: { name: 'a' } });
  expect(get).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
});

test.each([
  ['an invalid percent-encoding', '/api/v1/orgs/%E0%A4%A', 'malformed_request'],
  ['an encoded NUL in the path', '/api/v1/orgs/a%00b', 'invalid_input'],
  ['an encoded NUL in the query', '/api/v1/orgs/a?name=%00', 'invalid_input'],
])('interface page: %s gets 400', async (_name, path, code) => {
  const door = await open();
  const answer = await sendBytes(
    door.url,
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 400 .*"code":"${code}"`, 's'));
});

test('a field that a view does not declare is never sent', async () => {
  const secret = { org: 'a', limit: 1, passwordHash: 'x' };
  const door = await openDoor([
    routeTo('public', 'GET', '/api/v1/x', {
      summary: 'View',
      input: z.strictObject({}),
      output,
      run: () => secret,
    }),
  ]);
  expect((await door.get('/api/v1/x')).body).toEqual({ org: 'a', limit: 1 });
});

test('a refusal is sent with its hint and extra members in the body, and Retry-After in a header', async () => {
  const door = await openDoor([
    routeTo('public', 'POST', '/api/v1/x', {
      summary: 'Refuse',
      input: z.strictObject({}),
      run: () => {
        throw new Refusal('too_many_requests', 'Slow down.', {
          hint: 'Wait.',
          retryAfter: 1.2,
          extra: { methods: ['totp'], status: 200 },
        });
      },
    }),
  ]);
  const answer = await door.post('/api/v1/x');
  expect(answer.headers).toMatchObject({
    'content-type': 'application/problem+json',
    'retry-after': '2',
  });
  expect(answer.body).toEqual({
    type: 'urn:idctl:problem:too_many_requests',
    title: 'Too many requests',
    status: 429,
    detail: 'Slow down.',
    code: 'too_many_requests',
    requestId: answer.headers['x-request-id'],
    hint: 'Wait.',
    methods: ['totp'],
  });
});
