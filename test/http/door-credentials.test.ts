import { expect, test } from 'vitest';
import { z } from 'zod';
import { routeTo } from '../../src/http/route.ts';
import { openDoor } from '../support/door.ts';

const input = z.strictObject({});
const output = z.object({ kind: z.string(), name: z.string().optional() });
const whoami = (path: string, access: 'public' | 'me.see', extras: { optionalActor?: true } = {}) =>
  routeTo(access, 'GET', path, {
    summary: 'Who asks',
    input,
    output,
    run: (ctx) => ctx.actor,
    ...extras,
  });

const open = () =>
  openDoor([
    whoami('/api/v1/me', 'me.see'),
    whoami('/api/v1/public', 'public'),
    whoami('/api/v1/either', 'public', { optionalActor: true }),
  ]);

test.each([
  ['a Bearer header', { authorization: 'Bearer good' }],
  ['a bearer header in lower case', { authorization: 'bearer good' }],
  ['an x-api-key header', { 'x-api-key': 'good' }],
  ['a cookie', { cookie: 'other=1; access_token=good' }],
])('§5.1 a credential in %s is accepted', async (_name, headers) => {
  const door = await open();
  expect((await door.get('/api/v1/me', headers)).body).toEqual({ kind: 'user', name: 'Ada' });
});

test.each([
  [
    'a wrong Bearer beside a good x-api-key and cookie',
    { authorization: 'Bearer bad', 'x-api-key': 'good', cookie: 'access_token=good' },
  ],
  ['a wrong x-api-key beside a good cookie', { 'x-api-key': 'bad', cookie: 'access_token=good' }],
  ['an empty Bearer', { authorization: 'Bearer', 'x-api-key': 'good' }],
  ['an empty Authorization header', { authorization: '', 'x-api-key': 'good' }],
  ['two words after Bearer', { authorization: 'Bearer good good', 'x-api-key': 'good' }],
  ['a list of Bearers', { authorization: 'Bearer good, Bearer good' }],
  ['two Authorization headers', { authorization: ['Bearer good', 'Bearer good'] }],
  ['a Basic header before a Bearer', { authorization: ['Basic eDp5', 'Bearer good'] }],
  ['an oversized Bearer', { authorization: `Bearer ${'a'.repeat(4097)}`, 'x-api-key': 'good' }],
  ['an empty x-api-key', { 'x-api-key': '', cookie: 'access_token=good' }],
  ['two x-api-key headers', { 'x-api-key': ['good', 'good'] }],
  ['an x-api-key with a space', { 'x-api-key': 'good good' }],
  ['an empty cookie', { cookie: 'access_token=' }],
  ['a cookie sent twice', { cookie: 'access_token=good; access_token=good' }],
  ['a cookie with a line break', { cookie: 'access_token=go%0Aod' }],
])('P3 a request with %s is refused, and no other credential is tried', async (_name, headers) => {
  const door = await open();
  const answer = await door.get('/api/v1/me', headers);
  expect(answer.status).toBe(401);
  expect(answer.body.code).toBe('invalid_credential');
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="idctl", error="invalid_token"');
});

test('P3 an Authorization header of another scheme counts as no credential', async () => {
  const door = await open();
  const headers = { authorization: 'Basic eDp5', 'x-api-key': 'good' };
  expect((await door.get('/api/v1/me', headers)).body.name).toBe('Ada');
  const alone = await door.get('/api/v1/me', { authorization: 'Basic eDp5' });
  expect(alone.body.code).toBe('unauthenticated');
});

test('interface page: without a credential, a request gets 401 and no error code, before the input is read', async () => {
  const door = await open();
  const answer = await door.get('/api/v1/me?nonsense=1');
  expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="idctl"');
});

test('P3 an invalid cookie or Bearer token does not block a public route', async () => {
  const door = await open();
  for (const headers of [{ cookie: 'access_token=stale' }, { authorization: 'Bearer stale' }]) {
    expect((await door.get('/api/v1/public', headers)).body).toEqual({ kind: 'anonymous' });
    expect((await door.get('/api/v1/either', headers)).body).toEqual({ kind: 'anonymous' });
  }
  expect((await door.get('/api/v1/either', { 'x-api-key': 'good' })).body.name).toBe('Ada');
});
