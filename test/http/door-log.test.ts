import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../src/errors.ts';
import { routeTo } from '../../src/http/route.ts';
import { createLog } from '../../src/log/log.ts';
import { openDoor } from '../support/door.ts';

const where = routeTo('me.see', 'POST', '/api/v1/where/:name', {
  summary: 'Where from',
  input: z.strictObject({ name: z.string(), password: z.string().optional() }),
  output: z.object({ address: z.string().nullable() }),
  run: (ctx) => ctx.client,
});
const failed = routeTo('public', 'GET', '/api/v1/failed', {
  summary: 'Fail',
  input: z.strictObject({ code: z.string().optional() }),
  run: () => {
    const cause = Object.assign(new Error('gone'), { body: 'canary-5' });
    throw new Refusal('signin_failed', 'No.', { reason: 'wrong_password', cause });
  },
});
const auth = { authorization: 'Bearer good' };

test('X4 the log has one line for each request, without its query, headers or body', async () => {
  const door = await openDoor([where, failed]);
  const headers = { ...auth, cookie: 'refresh_token=canary-1', 'user-agent': 'canary-2' };
  await door.post('/api/v1/where/x', { password: 'canary-3' }, headers);
  await door.get('/api/v1/failed?code=canary-4');
  await expect.poll(() => door.log.length).toBe(2);
  expect(door.log[0]).toEqual({
    level: 'info',
    time: expect.any(String),
    requestId: expect.stringMatching(/-7/),
    method: 'POST',
    path: '/api/v1/where/x',
    status: 200,
    ms: expect.any(Number),
    actor: 'user',
    accountId: 'a1',
    address: '127.0.0.1',
    msg: 'request',
  });
  expect(door.log[1]).toMatchObject({
    status: 401,
    code: 'signin_failed',
    reason: 'wrong_password',
  });
  expect(JSON.stringify(door.log)).not.toContain('canary');
});

test('X4 O13 the log does not contain the token of a setup link, however its address is typed', async () => {
  const entry = routeTo('public', 'GET', '/setup/:token', {
    summary: 'Setup link',
    input: z.strictObject({ token: z.string() }),
    run: () => ({}),
  });
  const door = await openDoor([entry]);
  const paths = [
    ...['/setup/T', '//Setup/T', '/setup//T', '/setup/T/x', '/setup/T%ZZ', '/%73etup/T'],
    ...[
      '/setup%2FT',
      '/./setup/T',
      '/x/../setup/T',
      '/setup/sso/../T',
      '/%2573etup/T',
      '/\\setup\\T',
    ],
    ...['/setup/domains/T', '/setup/T?x', '/setup/done/T'],
  ].map((path) => path.replace('T', 'canary-0123456789-_AZaz'));
  for (const path of paths) await door.get(path);
  await door.get('/setup/domains/acme.test/verify');
  await expect.poll(() => door.log.length).toBe(paths.length + 1);
  expect(JSON.stringify(door.log)).not.toContain('canary');
  expect(door.log[0]).toMatchObject({ path: '/setup/…' });
  expect(door.log.at(-1)).toMatchObject({ path: '/setup/domains/acme.test/verify' });
});

test('X4 the log drops every field that is not listed', () => {
  const lines: string[] = [];
  const log = createLog({ log: { level: 'info' } }, { write: (line) => lines.push(line) });
  const error = Object.assign(new Error('broken', { cause: new TypeError('deeper') }), {
    sql: 'canary',
  });
  log.child({ requestId: 'r' }).info({ token: 'canary', reason: { a: 'canary' } }, 'x');
  log.error({ err: error }, 'y');
  log.error(error);
  expect(lines.join()).not.toContain('canary');
  expect(lines[0]).toContain('"requestId":"r"');
  expect(lines[1]).toMatch(/broken.*deeper/);
  expect(lines[2]).toMatch(/broken.*deeper/);
});

test('a refusal is logged without a stack trace, on a terminal and in JSON; a bug is logged with one', async () => {
  const lines: string[] = [];
  const log = createLog(
    { log: { level: 'info', format: 'text' } },
    { write: (line) => lines.push(stripVTControlCharacters(line)) },
  );
  const err = new Error('it broke');
  const request = {
    method: 'GET',
    path: '/x\u001b[2J',
    status: 502,
    ms: 7,
    actor: 'anonymous',
    address: '::1',
  };
  log.error({ ...request, code: 'upstream_failed', reason: 'tls', err }, 'request');
  log.error({ err }, 'bug');
  log.info({ listen: 'http://127.0.0.1:8420' }, 'listening');
  log.warn('baseUrl is plain http');
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d error: GET \/x\\u001b\[2J 502 7ms \(upstream_failed, tls\) from ::1/,
  );
  expect(lines[0]).toContain('it broke');
  expect(lines[0]).not.toMatch(/^ +at /m);
  expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d error: bug\n +Error: it broke\n +at /);
  expect(lines[2]).toMatch(/^\d\d:\d\d:\d\d listening listen=http:\/\/127\.0\.0\.1:8420\n$/);
  expect(lines[3]).toMatch(/^\d\d:\d\d:\d\d warn: baseUrl is plain http\n$/);
  const door = await openDoor([where, failed]);
  await door.get('/api/v1/failed');
  await expect.poll(() => door.log.length).toBe(1);
  expect(door.log[0]?.['err']).toEqual({ type: 'Error', message: 'Error: gone' });
});

test.each([
  ['no trusted proxy', [], '203.0.113.9', '127.0.0.1'],
  ['a proxy that is not trusted', ['10.0.0.0/8'], '203.0.113.9', '127.0.0.1'],
  ['one proxy', ['127.0.0.1'], '203.0.113.9', '203.0.113.9'],
  ['a forged entry before the proxy', ['127.0.0.0/8'], '6.6.6.6, 203.0.113.9', '203.0.113.9'],
  [
    'a chain of proxies',
    ['127.0.0.1', '10.0.0.0/8'],
    '6.6.6.6, 203.0.113.9, 10.1.2.3',
    '203.0.113.9',
  ],
  ['no forwarded address', ['127.0.0.1'], undefined, '127.0.0.1'],
  ['a forwarded value that is not an address', ['127.0.0.1'], 'unknown', '127.0.0.1'],
  ['an IPv4-mapped address', ['127.0.0.1'], '::ffff:203.0.113.9', '203.0.113.9'],
])('P9 the client address is right with %s', async (_name, trustedProxies, forwarded, address) => {
  const door = await openDoor([where], { http: { trustedProxies } });
  const headers = forwarded === undefined ? auth : { ...auth, 'x-forwarded-for': forwarded };
  expect((await door.post('/api/v1/where/x', {}, headers)).body).toEqual({ address });
});
