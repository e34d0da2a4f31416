import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { newSecret } from '../../src/crypto/secret.ts';
import { appOf, basic } from '../support/apps.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

// Tests the token endpoint over HTTP: RFC 6749 §2.3, §3.2, §5.1, §5.2.

let idctl: Idctl;
let app: Awaited<ReturnType<typeof appOf>>;
beforeAll(async () => {
  idctl = await openIdctl();
  app = await appOf(idctl);
});
afterAll(() => idctl.close());
afterEach(() => {
  vi.restoreAllMocks();
});

const path = '/api/v1/oauth/token';
const grant = { grant_type: 'client_credentials' };
const post = (fields: Record<string, string> | string, headers = {}) =>
  idctl.client().form(path, fields, headers);

test('§5.1 an answer is not cached, and has exactly three members', async () => {
  const { status, headers, body } = await app.ask();
  expect([status, headers['cache-control'], headers['pragma']]).toEqual([
    200,
    'no-store',
    'no-cache',
  ]);
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in']);
});

test('§2.3.1 the client authenticates in the form or by Basic, with both halves form-encoded', async () => {
  expect((await post({ ...grant, ...app.credentials })).status).toBe(200);
  expect((await post(grant, basic(app.clientId, app.clientSecret))).status).toBe(200);
  const plain = Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64');
  expect((await post(grant, { authorization: `basic ${plain}` })).status).toBe(200);
  const named = { ...grant, client_id: app.clientId };
  expect((await post(named, basic(app.clientId, app.clientSecret))).status).toBe(200);
});

test('§2.3 a request with two client credentials is an invalid request', async () => {
  const by = basic(app.clientId, app.clientSecret);
  expect(await post({ ...grant, ...app.credentials }, by)).toMatchObject({
    status: 400,
    body: { error: 'invalid_request' },
  });
  expect((await post({ ...grant, client_id: 'app-other' }, by)).body.error).toBe('invalid_request');
});

test('§5.2 a refused client gets 401, the scheme that it can use, and always the same description', async () => {
  const wrong = [
    await post({ ...grant, ...app.credentials, client_id: 'app-none' }),
    await post({ ...grant, ...app.credentials, client_secret: 'cos_secret_none' }),
    await post({ ...grant, ...app.credentials, client_secret: newSecret('cos_secret_').value }),
    await post(grant, basic((await appOf(idctl)).clientId, app.clientSecret)),
    await post(grant, basic('app-none', app.clientSecret)),
    await post(grant, basic(app.clientId, 'wrong')),
  ];
  for (const answer of wrong) {
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    expect(answer.headers['www-authenticate']).toBe('Basic realm="idctl"');
    expect(answer.headers['cache-control']).toBe('no-store');
  }
  expect(new Set(wrong.map(({ body }) => body.error_description)).size).toBe(1);
});

test.each([
  ['a client', {}],
  ['a secret', { client_id: 'app-x' }],
])('§5.2 a request without %s is refused as invalid_client', async (_who, client) => {
  expect(await post({ ...grant, ...client })).toMatchObject({
    status: 401,
    body: { error: 'invalid_client' },
  });
});

test.each([
  'Basic',
  'Basic !!!',
  `Basic ${Buffer.from('no colon').toString('base64')}`,
  `Basic ${Buffer.from('%zz:%zz').toString('base64')}`,
])(
  'P3 an unreadable Basic header is refused, even if the form is right: %s',
  async (authorization) => {
    const answer = await post({ ...grant, ...app.credentials }, { authorization });
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
  },
);

test('P3 an Authorization header that is sent twice is refused', async () => {
  const { authorization } = basic(app.clientId, app.clientSecret);
  const answer = await post(grant, { authorization: [authorization, authorization] });
  expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
});

test('an Authorization header of another scheme counts as no credential', async () => {
  const token = await app.mint();
  expect(
    (await post({ ...grant, ...app.credentials }, { authorization: `Bearer ${token}` })).status,
  ).toBe(200);
});

test.each(['password', 'authorization_code', 'refresh_token', 'CLIENT_CREDENTIALS'])(
  '§5.2 the grant type %s is not supported',
  async (grant_type) => {
    expect(await app.ask({ grant_type })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type', error_description: expect.any(String) },
    });
  },
);

test.each([
  ['absent', ''],
  ['empty', 'grant_type='],
])('§3.2 a grant type that is %s is an invalid request', async (_how, start) => {
  const answer = await post(`${start}&${new URLSearchParams(app.credentials)}`);
  expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
});

test('X6 unknown parameters are ignored; duplicates, and known ones in the query, are refused', async () => {
  expect((await app.ask({ scope: 'all', audience: 'x' })).status).toBe(200);
  const whole = new URLSearchParams({ ...grant, ...app.credentials });
  expect((await idctl.client().form(`${path}?api-version=1`, whole.toString())).status).toBe(200);
  const refused = [
    await post(`${whole}&grant_type=client_credentials`),
    await post(`${whole}&client_id=${app.clientId}`),
    await post(`${whole}&unknown=1&unknown=2`),
    await idctl.client().form(`${path}?client_secret=${app.clientSecret}`, whole.toString()),
    await idctl.client().form(`${path}?x=1&x=2`, whole.toString()),
  ];
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(
    Array(5).fill([400, 'invalid_request']),
  );
});

test('§5.2 JSON, an unreadable body and an oversized body get the OAuth error invalid_request', async () => {
  const answers = [
    await idctl.client().post(path, { ...grant, ...app.credentials }),
    await idctl
      .client()
      .send('POST', path, { body: 'x', headers: { 'content-type': 'text/plain' } }),
    await post({ ...grant, ...app.credentials, filler: 'x'.repeat(200_000) }),
    await post({ ...grant, client_id: 'a\0b', client_secret: 'x' }),
    await idctl.client().post(path),
  ];
  expect(answers.map(({ status }) => status)).toEqual([415, 415, 413, 400, 400]);
  for (const { body } of answers) expect(body.error).toBe('invalid_request');
});

test('§5.2 a description has only printable ASCII without quotes, whatever the client sent', async () => {
  const { body } = await post(`${new URLSearchParams({ ...grant, 'ü"\\': '1' })}&%C3%BC%22%5C=2`);
  expect(body.error).toBe('invalid_request');
  expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
});

test('a form from another site gets the OAuth error access_denied', async () => {
  const answer = await post({ ...grant, ...app.credentials }, { origin: 'https://evil.example' });
  expect([answer.status, answer.body.error]).toEqual([403, 'access_denied']);
});

test('a bug is answered with server_error and only the request id', async () => {
  const bug = new Error(randomUUID());
  vi.spyOn(idctl.app.config.oauth, 'botTokenTtl', 'get').mockImplementationOnce(() => {
    throw bug;
  });
  const { status, body, headers } = await app.ask();
  expect([status, body.error]).toEqual([500, 'server_error']);
  expect(body.error_description).toContain(headers['x-request-id']);
});

test('other methods get 405, and Allow names POST', async () => {
  const answer = await idctl.client().get(path);
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
});

test('the API document describes the form and the refusals', async () => {
  const { paths } = (await idctl.client().get('/api/v1/openapi.json')).body;
  const { requestBody, responses, security } = paths[path].post;
  const { schema } = requestBody.content['application/x-www-form-urlencoded'];
  expect(Object.keys(schema.properties)).toEqual(['grant_type', 'client_id', 'client_secret']);
  expect([schema.required, schema.additionalProperties]).toEqual([['grant_type'], true]);
  expect(responses['4XX'].$ref).toBe('#/components/responses/OAuthError');
  expect(security).toEqual([{}, { client: [] }]);
});
