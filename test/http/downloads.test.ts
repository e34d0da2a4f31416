import { once } from 'node:events';
import { connect } from 'node:net';
import express from 'express';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sendDownload } from '../../src/http/download.ts';
import { routeTo } from '../../src/http/route.ts';
import { openDoor } from '../support/door.ts';
import { freePorts } from '../support/ports.ts';

// A route with a download sends a file while it is read.

const input = z.strictObject({ format: z.enum(['txt']) });

/** A route whose file has the given parts. */
const routeOf = (parts: () => AsyncIterable<string>) =>
  routeTo('public', 'GET', '/api/v1/list', {
    summary: 'A list',
    input: z.strictObject({}),
    output: z.object({ items: z.array(z.string()) }),
    run: () => ({ items: [] }),
    download: {
      operation: Object.assign(
        async () => ({
          ...{ type: 'text/plain', name: 'list.txt', parts: parts() },
          inTurn: (send: () => Promise<void>) => send(),
        }),
        { input },
      ),
      types: ['text/plain'],
    },
  });

test('a request with a format gets a file, and others the list', async () => {
  let reads = 0;
  const door = await openDoor([
    routeOf(async function* () {
      reads += 1;
      yield 'a\n';
      yield 'b\n';
    }),
  ]);
  expect((await door.get('/api/v1/list')).body).toEqual({ items: [] });
  const file = await door.get('/api/v1/list?format=txt');
  expect([file.status, file.body]).toEqual([200, 'a\nb\n']);
  expect(file.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': 'attachment; filename="list.txt"',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  const head = await door.send('HEAD', '/api/v1/list?format=txt');
  expect([head.status, head.body, head.headers['content-type']]).toEqual([
    ...[200, '', 'text/plain; charset=utf-8'],
  ]);
  expect(reads).toBe(1);
  const wrong = await door.get('/api/v1/list?format=pdf');
  expect([wrong.status, wrong.body.errors[0].path]).toEqual([400, 'format']);
});

test('X11 a file whose client has gone is read no further, and is not logged as a bug', async () => {
  let parts = 0;
  const ended = Promise.withResolvers<void>();
  const door = await openDoor([
    routeOf(async function* () {
      try {
        for (;;) {
          parts += 1;
          yield 'x'.repeat(64 * 1024);
        }
      } finally {
        ended.resolve();
      }
    }),
  ]);
  const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
  socket.write('GET /api/v1/list?format=txt HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  // The client does not read on, so the file waits.
  socket.pause();
  let before = -1;
  await expect
    .poll(
      () => {
        const still = before === parts;
        before = parts;
        return still;
      },
      { interval: 100 },
    )
    .toBe(true);
  socket.destroy();
  await ended.promise;
  await expect.poll(() => door.log.filter((line) => line['aborted'] === true)).toHaveLength(1);
  expect([parts, door.log.filter(({ msg }) => msg === 'bug')]).toEqual([before, []]);
});

test('O15 a client that takes nothing for long loses the file, so that others get its turn', async () => {
  const given = Promise.withResolvers<void>();
  const parts = async function* () {
    for (;;) yield 'x'.repeat(64 * 1024);
  };
  const inTurn = (send: () => Promise<void>) => send();
  const download = { type: 'text/plain', name: 'list.txt', parts: parts(), inTurn };
  const web = express().get('/', async (request, response) => {
    await sendDownload(download, request, response, 200).catch(() => given.resolve());
  });
  const [port = 0] = await freePorts(1);
  const server = web.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  socket.pause();
  await given.promise;
  socket.destroy();
  server.close();
});

test('a file that fails on the way is cut off and logged, so that no one takes it for the whole', async () => {
  const door = await openDoor([
    routeOf(async function* () {
      yield 'a\n';
      throw new Error('the disk is on fire');
    }),
  ]);
  await expect(door.get('/api/v1/list?format=txt')).rejects.toThrow();
  await expect.poll(() => door.log.filter(({ msg }) => msg === 'bug')).toHaveLength(1);
});
