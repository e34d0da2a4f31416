import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { routeTo } from '../../src/http/route.ts';
import { openDoor, type TestDoor } from '../support/door.ts';
import { sendBytes } from '../support/http.ts';

/** Opens a door with a route that answers only after `release`. */
async function openSlowDoor() {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow = routeTo('public', 'GET', '/api/v1/slow', {
    summary: 'Slow',
    input: z.strictObject({}),
    output: z.object({ done: z.boolean() }),
    run: async () => {
      arrived.resolve();
      await release.promise;
      return { done: true };
    },
  });
  return { door: await openDoor([slow]), arrived: arrived.promise, release: release.resolve };
}

const healthy = routeTo('public', 'GET', '/healthz', {
  summary: 'Healthy',
  input: z.strictObject({}),
  output: z.object({ ok: z.boolean() }),
  run: async () => ({ ok: true }),
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test('SIGTERM: requests in progress are answered, with Connection: close', async () => {
  const { door, arrived, release } = await openSlowDoor();
  const answer = sendBytes(door.url, get('/api/v1/slow'));
  await arrived;
  const closed = door.server.close(8000);
  release();
  expect(await answer).toMatch(/^HTTP\/1.1 200 OK.*Connection: close.*{"done":true}/s);
  await closed;
  expect(door.server.url).toBeNull();
});

test('SIGTERM: a request that arrives on a busy connection is answered, then the connection is closed', async () => {
  const { door, arrived, release } = await openSlowDoor();
  const answer = sendBytes(door.url, get('/api/v1/slow'));
  await arrived;
  const half = sendHalf(door);
  await half.arrived;
  const closed = door.server.close(8000);
  half.finish();
  expect(await half.answer).toMatch(/^HTTP\/1.1 404 .*Connection: close/s);
  release();
  await Promise.all([answer, closed]);
});

/** Sends a request and half of the next, so that the server sees the connection as busy. */
function sendHalf(door: TestDoor) {
  const { hostname, port } = new URL(door.url);
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  let text = '';
  const socket = connect(Number(port), hostname, () =>
    socket.write(`${get('/nowhere')}GET /else HTTP/1.1\r\nHost: x\r\n`),
  );
  socket.on('data', (chunk) => {
    text += chunk;
    // If the first answer has come, the server has also read the half that follows.
    if (text.includes('not_found')) arrived.resolve();
  });
  socket.once('close', () => answer.resolve(text.slice(text.lastIndexOf('HTTP/1.1'))));
  return { arrived: arrived.promise, answer: answer.promise, finish: () => socket.write('\r\n') };
}

test('SIGTERM: idle connections do not delay the stop, even if they never sent a request', async () => {
  const door = await openDoor([]);
  const silent = sendBytes(door.url, '');
  const kept = sendBytes(door.url, get('/nowhere'));
  await expect.poll(() => door.log.length).toBe(1);
  await door.server.close(60_000);
  expect(await silent).toBe('');
  expect(await kept).toMatch(/^HTTP\/1.1 404 /);
});

test('SIGTERM: requests that take longer than the time limit are cut off', async () => {
  const { door, arrived } = await openSlowDoor();
  const answer = sendBytes(door.url, get('/api/v1/slow')).catch(() => '');
  await arrived;
  await Promise.all([door.server.close(10), door.server.close(10)]);
  expect(await answer).toBe('');
  await expect.poll(() => door.log).toMatchObject([{ aborted: true }]);
});

test.each([
  ['a malformed first line', 'nonsense\r\n\r\n', 400],
  ['no Host header', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  [
    'a target that is not a URL',
    'GET http://[/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    400,
  ],
  [
    'two Content-Length headers',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
  ],
])('interface page: a request with %s gets a problem object', async (_name, bytes, status) => {
  const door = await openDoor([]);
  const answer = await sendBytes(door.url, bytes);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(
    new RegExp(`^HTTP/1.1 ${status} .*Content-Type: application/problem\\+json`, 's'),
  );
  expect(JSON.parse(body)).toMatchObject({ status, code: 'malformed_request' });
});

test.each([
  ['two Host headers', 'GET /healthz HTTP/1.1\r\nHost: id.example.test\r\nHost: evil.test\r\n'],
  ['the same Host header twice', 'GET /healthz HTTP/1.1\r\nHost: x\r\nhost: x\r\n'],
  ['two Host headers in HTTP/1.0', 'GET /healthz HTTP/1.0\r\nHost: x\r\nHost: evil.test\r\n'],
  ['an empty Host header beside another', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost:\r\n'],
  ['a Host header with two hosts', 'GET /healthz HTTP/1.1\r\nHost: x, evil.test\r\n'],
  ['a Host header with a user', 'GET /healthz HTTP/1.1\r\nHost: x@evil.test\r\n'],
  ['a Host header with a path', 'GET /healthz HTTP/1.1\r\nHost: x/evil\r\n'],
  ['a target on another host', 'GET http://evil.test/healthz HTTP/1.1\r\nHost: x\r\n'],
  ['a target on another port', 'GET http://x:81/healthz HTTP/1.1\r\nHost: x\r\n'],
])('X6 a request with %s gets 400', async (_name, bytes) => {
  const door = await openDoor([healthy]);
  const [head = '', body = ''] = (
    await sendBytes(door.url, `${bytes}Connection: close\r\n\r\n`)
  ).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1.1 400 .*Content-Type: application\/problem\+json/s);
  expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'malformed_request' });
});

test.each([
  ['a name and a port', 'GET /healthz HTTP/1.1\r\nHost: id.example.test:8443\r\n'],
  ['an IPv6 address', 'GET /healthz HTTP/1.1\r\nHost: [::1]:8420\r\n'],
  ['no host', 'GET /healthz HTTP/1.1\r\nHost:\r\n'],
  ['the host of its target', 'GET http://X:80/healthz HTTP/1.1\r\nHost: x\r\n'],
])('X6 a request with one Host header that has %s is answered', async (_name, bytes) => {
  const door = await openDoor([healthy]);
  expect(await sendBytes(door.url, `${bytes}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /);
});

test('listening on a port in use is refused, and the message says that another program uses it', async () => {
  const door = await openDoor([]);
  const second = await openDoor([]);
  await second.server.close();
  const taken = second.server.listen(new URL(door.url).host);
  await expect(taken).rejects.toMatchObject({
    code: 'listen_failed',
    message: expect.stringContaining('another program'),
  });
});
