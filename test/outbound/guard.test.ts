import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { allowList } from '../../src/outbound/allow-list.ts';
import { createGuard } from '../../src/outbound/guard.ts';
import { guardedClient } from '../../src/outbound/http.ts';
import { defaultLimits, type Limits } from '../../src/outbound/limits.ts';
import { inTurn, lookupsAtOnce, type ResolveHost } from '../../src/outbound/lookup-queue.ts';
import { trustedRoots } from '../../src/outbound/roots.ts';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { hintLike } from '../support/hints.ts';
import { portOf } from '../support/ports.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Setup {
  allow?: string[];
  limits?: Partial<Limits>;
  caFile?: string;
  resolveHost?: ResolveHost;
}

function fetchWith({ allow = [], limits, caFile, resolveHost }: Setup = {}) {
  const roots = trustedRoots('outbound.caFile', caFile);
  const guard = createGuard(allowList(allow), resolveHost);
  const client = guardedClient(guard, roots, { ...defaultLimits, ...limits });
  closers.push(client.close);
  return client.fetch;
}

async function serve(listener: RequestListener, server: Server = createServer()): Promise<number> {
  server.on('request', listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return portOf(server);
}

const ok: RequestListener = (_, response) => void response.end('{}');
const to =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('S9 name look-ups take turns', () => {
  /** A resolver that answers when told to, with at most two look-ups at once. */
  function slow(patience = 10_000, slowness = 10_000) {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const resolve = inTurn(
      (host) =>
        new Promise((done) => {
          begun.push(host);
          ends.set(host, () => done([{ address: '203.0.113.1', family: 4 }]));
        }),
      2,
      patience,
      slowness,
    );
    const end = async (host: string) => {
      ends.get(host)?.();
      await setImmediate();
    };
    return { begun, resolve, end };
  }

  test('S9 at most one look-up per domain and two in all run at once, so no tenant takes every thread', async () => {
    const { begun, resolve, end } = slow();
    const names = ['a.evil.test', 'b.evil.test', 'a.evil.test', 'one.test', 'two.test'];
    const answers = names.map(resolve);
    expect(begun).toEqual(['a.evil.test', 'one.test']);
    await end('one.test');
    expect(begun).toEqual(['a.evil.test', 'one.test', 'two.test']);
    await end('a.evil.test');
    expect(begun.slice(3)).toEqual(['b.evil.test']);
    await end('two.test');
    await end('b.evil.test');
    expect(await Promise.all(answers)).toHaveLength(5);
  });

  test('S9 all domains that were slow lately share one place, so slow names cannot take every place', async () => {
    const { begun, resolve, end } = slow(undefined, 0);
    const evil = ['a.test', 'b.test', 'c.test'];
    for (let round = 0; round < 2; round += 1) {
      const answers = evil.map(resolve);
      for (const host of evil) await end(host);
      await Promise.all(answers);
    }
    begun.length = 0;
    const answers = [...evil, 'one.test'].map(resolve);
    expect(begun).toEqual(['a.test', 'one.test']);
    for (const host of ['one.test', ...evil]) await end(host);
    expect(begun).toEqual(['a.test', 'one.test', 'b.test', 'c.test']);
    await Promise.all(answers);
  });

  test('S9 a look-up whose turn does not come in time is refused, and does not run later', async () => {
    const { begun, resolve, end } = slow(20);
    const first = resolve('a.evil.test');
    await expect(resolve('b.evil.test')).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    await end('a.evil.test');
    await first;
    expect(begun).toEqual(['a.evil.test']);
  });
});

test('S9 P6 look-ups for tenants leave a place for the operator’s look-ups, and threads for passwords', async () => {
  const told = 'data:text/javascript,console.error(process.env.UV_THREADPOOL_SIZE)';
  const env = { ...process.env, UV_THREADPOOL_SIZE: undefined, NODE_OPTIONS: `--import=${told}` };
  const { stderr } = await promisify(execFile)(
    join(import.meta.dirname, '../../bin/idctl'),
    ['--version'],
    {
      env,
    },
  );
  const threads = Number(stderr.split('\n')[0]);
  // libuv lets look-ups use (threads + 1) / 2 threads, rounded down.
  const lookups = Math.floor((threads + 1) / 2);
  expect(lookupsAtOnce(threads)).toBeLessThan(lookups);
  expect(threads - lookups).toBeGreaterThanOrEqual(4);
});

describe('S9 the guard of addresses', () => {
  test.each([
    ['https://127.0.0.1/', 'loopback'],
    ['https://127.1/', 'loopback'],
    ['https://2130706433/', 'loopback'],
    ['https://0x7f000001/', 'loopback'],
    ['https://[::1]/', 'loopback'],
    ['https://[::ffff:169.254.169.254]/', 'metadata'],
    ['https://10.0.0.1/', 'private'],
    ['http://8.8.8.8/', 'plain_http'],
    ['ftp://8.8.8.8/', 'scheme'],
  ])('S9 refuses %s (%s), naming outbound.allow', async (url, reason) => {
    await expect(fetchWith()(url)).rejects.toMatchObject({
      code: 'outbound_refused',
      extra: { reason },
      hint: hintLike('outbound.allow'),
    });
  });

  test('S9 refuses a name that resolves to a private address, and names the entry to add', async () => {
    await expect(fetchWith()('https://localhost/')).rejects.toMatchObject({
      code: 'outbound_refused',
      extra: { reason: 'loopback' },
      hint: hintLike('can add localhost to the list outbound.allow'),
    });
  });

  test('S9 names the entry to add with its port, if the URL has one', async () => {
    await expect(fetchWith()('https://localhost:8443/')).rejects.toMatchObject({
      hint: hintLike('can add localhost:8443 to the list outbound.allow'),
    });
    await expect(fetchWith()('http://[::1]:8080/')).rejects.toMatchObject({
      hint: hintLike('can add [::1]:8080 to the list outbound.allow'),
    });
  });

  test('S9 reaches the port that the operator allows, and no other port of that host', async () => {
    const [port, other] = [await serve(ok), await serve(ok)];
    for (const host of ['idp.test', '127.0.0.1']) {
      const fetch = fetchWith({ allow: [`${host}:${port}`], resolveHost: to('127.0.0.1') });
      expect((await fetch(`http://${host}:${port}/`)).status).toBe(200);
      await expect(fetch(`http://${host}:${other}/`)).rejects.toMatchObject({
        code: 'outbound_refused',
      });
    }
    const byAddress = fetchWith({ allow: [`127.0.0.1:${port}`], resolveHost: to('127.0.0.1') });
    expect((await byAddress(`http://idp.test:${port}/`)).status).toBe(200);
  });

  test('S9 refuses a name if only one of its addresses is private', async () => {
    const fetch = fetchWith({ resolveHost: to('8.8.8.8', '10.0.0.1') });
    await expect(fetch('https://idp.test/')).rejects.toMatchObject({
      extra: { reason: 'private' },
    });
  });

  test('S9 refuses plain http for a public name without connecting', async () => {
    const fetch = fetchWith({ resolveHost: to('8.8.8.8') });
    await expect(fetch('http://idp.test/')).rejects.toMatchObject({
      extra: { reason: 'plain_http' },
    });
  });

  test('S9 reaches what the operator allows, by name or by range, also over plain http', async () => {
    const port = await serve(ok);
    const byName = fetchWith({ allow: ['idp.test'], resolveHost: to('127.0.0.1') });
    const byRange = fetchWith({ allow: ['127.0.0.0/8'], resolveHost: to('127.0.0.1') });
    expect((await byName(`http://idp.test:${port}/`)).status).toBe(200);
    expect((await byRange(`http://idp.test:${port}/`)).status).toBe(200);
    expect((await byRange(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  test('S9 resolves a name once and connects to the address it checked', async () => {
    const port = await serve(ok);
    const answers = [to('127.0.0.1'), to('10.0.0.1')];
    const fetch = fetchWith({
      allow: ['127.0.0.1'],
      resolveHost: (host) => (answers.shift() ?? to('10.0.0.2'))(host),
    });
    expect((await fetch(`http://idp.test:${port}/`)).status).toBe(200);
    expect(answers).toHaveLength(1);
  });
});

describe('S9 the guarded client', () => {
  const allow = ['127.0.0.1'];

  test.each([301, 302, 303, 307, 308])('S9 does not follow a redirect (%i)', async (status) => {
    const paths: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    await expect(fetchWith({ allow })(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      code: 'upstream_failed',
      extra: { reason: 'redirected' },
    });
    expect(paths).toEqual(['/']);
  });

  test('S9 gives up a body that arrives too slowly', async () => {
    const port = await serve((_, response) => {
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const fetch = fetchWith({ allow, limits: { total: 300 } });
    const began = performance.now();
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      extra: { reason: 'timeout' },
    });
    expect(performance.now() - began).toBeGreaterThan(250);
  });

  test('S9 gives up a request that is never answered', async () => {
    const port = await serve(() => undefined);
    const fetch = fetchWith({ allow, limits: { total: 200 } });
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      extra: { reason: 'timeout' },
    });
  });

  test('S9 gives up a connection that never completes its TLS handshake', async () => {
    const server = createTcpServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => new Promise((closed) => server.close(closed)));
    const fetch = fetchWith({ allow, limits: { connect: 200 } });
    await expect(fetch(`https://127.0.0.1:${portOf(server)}/`)).rejects.toMatchObject({
      extra: { reason: 'timeout' },
    });
  });

  test('S9 stops reading an endless body at its limit', async () => {
    let sent = 0;
    const block = Buffer.alloc(64 * 1024, 'x');
    const port = await serve((_, response) => {
      const endless = function* () {
        for (;;) {
          sent += block.length;
          yield block;
        }
      };
      Readable.from(endless())
        .on('error', () => undefined)
        .pipe(response);
    });
    await expect(fetchWith({ allow })(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      extra: { reason: 'too_large' },
    });
    // idctl stops at 1 MiB. The server sends more, because the kernel buffers data on loopback.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test('S9 stops unpacking a compressed body at its limit', async () => {
    let unpacked = 0;
    const block = Buffer.alloc(1024 * 1024);
    const port = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const bomb = function* () {
        for (; unpacked < 512 * 1024 * 1024; unpacked += block.length) yield block;
      };
      const zip = createGzip().on('error', () => undefined);
      Readable.from(bomb())
        .on('error', () => undefined)
        .pipe(zip)
        .pipe(response);
      response.on('close', () => zip.destroy());
    });
    const before = process.memoryUsage().arrayBuffers;
    await expect(fetchWith({ allow })(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      extra: { reason: 'too_large' },
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  test('S9 reads a body of exactly the limit', async () => {
    const port = await serve((_, response) => void response.end(Buffer.alloc(defaultLimits.body)));
    const response = await fetchWith({ allow })(`http://127.0.0.1:${port}/`);
    expect((await response.bytes()).length).toBe(defaultLimits.body);
  });
});

describe('S9 the guarded client over TLS', () => {
  let folder: string;
  let authority: Authority;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-tls-'));
    authority = await createAuthority(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function serveTls(name: string): Promise<number> {
    const { certFile, keyFile } = await authority.issue(name);
    return serve(
      ok,
      createTlsServer({ cert: await readFile(certFile), key: await readFile(keyFile) }),
    );
  }

  test('S9 trusts the authority of outbound.caFile beside the public ones', async () => {
    const port = await serveTls('DNS:localhost');
    const fetch = fetchWith({ allow: ['localhost'], caFile: authority.caFile });
    expect((await fetch(`https://localhost:${port}/`)).status).toBe(200);
  });

  test('S9 refuses a certificate of an unknown authority or for another name', async () => {
    const port = await serveTls('DNS:localhost');
    const other = await serveTls('DNS:other.test');
    const allow = ['localhost'];
    await expect(fetchWith({ allow })(`https://localhost:${port}/`)).rejects.toMatchObject({
      extra: { reason: 'tls_untrusted' },
    });
    await expect(
      fetchWith({ allow, caFile: authority.caFile })(`https://localhost:${other}/`),
    ).rejects.toMatchObject({ extra: { reason: 'tls_name_mismatch' } });
  });

  test('a certificate file that cannot be used is refused with the name of its setting', () => {
    expect(() => trustedRoots('outbound.caFile', join(folder, 'absent.pem'))).toThrow(
      /^outbound\.caFile: /,
    );
    expect(() => trustedRoots('doh.caFile', join(folder, 'ca.key'))).toThrow(
      /^doh\.caFile: .*does not contain a PEM certificate/,
    );
  });
});
