import { expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../src/errors.ts';
import { route } from '../../src/http/route.ts';
import { createLog } from '../../src/log.ts';
import { openDoor } from '../support/door.ts';

const where = route({
  method: 'POST',
  path: '/api/v1/where/:name',
  summary: 'Where from',
  access: 'me.see',
  input: z.strictObject({ name: z.string(), password: z.string().optional() }),
  output: z.object({ address: z.string().nullable() }),
  run: (ctx) => ctx.client,
});
const failed = route({
  method: 'GET',
  path: '/api/v1/failed',
  summary: 'Fail',
  access: 'public',
  input: z.strictObject({ code: z.string().optional() }),
  run: () => {
    const cause = { reason: 'wrong_password', cause: Object.assign(new Error('gone'), { body: 'canary-5' }) };
    throw new Refusal('signin_failed', 'No.', { cause });
  },
});
const auth = { authorization: 'Bearer good' };

test('X4 a request is one line, without query, headers or body', async () => {
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
  expect(door.log[1]).toMatchObject({ status: 401, code: 'signin_failed', reason: 'wrong_password' });
  expect(JSON.stringify(door.log)).not.toContain('canary');
});

test('X4 the log drops every field that is not listed', () => {
  const lines: string[] = [];
  const log = createLog({ log: { level: 'info' } }, { write: (line) => lines.push(line) });
  const error = Object.assign(new Error('broken', { cause: new TypeError('deeper') }), { sql: 'canary' });
  log.child({ requestId: 'r' }).info({ token: 'canary', reason: { a: 'canary' } }, 'x');
  log.error({ err: error }, 'y');
  log.error(error);
  expect(lines.join()).not.toContain('canary');
  expect(lines[0]).toContain('"requestId":"r"');
  expect(lines[1]).toMatch(/broken.*deeper/);
  expect(lines[2]).toMatch(/broken.*deeper/);
});

test.each([
  ['nobody is trusted', [], '203.0.113.9', '127.0.0.1'],
  ['the peer is not the trusted one', ['10.0.0.0/8'], '203.0.113.9', '127.0.0.1'],
  ['one proxy', ['127.0.0.1'], '203.0.113.9', '203.0.113.9'],
  ['a forged entry before the proxy', ['127.0.0.0/8'], '6.6.6.6, 203.0.113.9', '203.0.113.9'],
  ['a chain of proxies', ['127.0.0.1', '10.0.0.0/8'], '6.6.6.6, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['nothing forwarded', ['127.0.0.1'], undefined, '127.0.0.1'],
  ['no address forwarded', ['127.0.0.1'], 'unknown', '127.0.0.1'],
  ['a mapped address', ['127.0.0.1'], '::ffff:203.0.113.9', '203.0.113.9'],
])('P9 the client address when %s', async (_name, trustedProxies, forwarded, address) => {
  const door = await openDoor([where], { http: { trustedProxies } });
  const headers = forwarded === undefined ? auth : { ...auth, 'x-forwarded-for': forwarded };
  expect((await door.post('/api/v1/where/x', {}, headers)).body).toEqual({ address });
});
