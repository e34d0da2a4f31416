import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Outbound } from '../../src/outbound/outbound.ts';
import { type Bind, startBind } from '../support/bind.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { hintLike } from '../support/hints.ts';
import { openNetwork } from '../support/network.ts';
import { portOf } from '../support/ports.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe.skipIf(counterpartMissing('bind9'))(
  '§4.4 DNS-over-HTTPS against BIND (HTTP/2, wire format)',
  () => {
    let bind: Bind;
    let outbound: Outbound;
    beforeAll(async () => {
      bind = await startBind('acme.test');
      outbound = openNetwork({ doh: { resolverUrl: bind.resolverUrl, caFile: bind.caFile } });
    });
    afterAll(async () => {
      await outbound.close();
      await bind.stop();
    });

    test('D3 a lookup returns the TXT values of exactly the domain, each joined from its parts', async () => {
      await bind.publishTxt('acme.test', 'svc-verify=one');
      await bind.publishTxt('acme.test', 'x'.repeat(255), 'y'.repeat(20));
      const { rcode, truncated, values } = await outbound.lookupTxt('acme.test');
      expect({ rcode, truncated }).toEqual({ rcode: 'NOERROR', truncated: false });
      expect(new Set(values)).toEqual(
        new Set(['svc-verify=one', 'x'.repeat(255) + 'y'.repeat(20)]),
      );
      await bind.withdrawTxt('acme.test');
      expect((await outbound.lookupTxt('acme.test')).values).toEqual([]);
    });

    test('D3 the records of a CNAME’s target do not count', async () => {
      await bind.publishTxt('target.acme.test', 'svc-verify=elsewhere');
      await bind.publishCname('alias.acme.test', 'target.acme.test');
      expect(await outbound.lookupTxt('alias.acme.test')).toMatchObject({
        rcode: 'NOERROR',
        values: [],
      });
      expect((await outbound.lookupTxt('target.acme.test')).values).toEqual([
        'svc-verify=elsewhere',
      ]);
    });

    test('D3 a lookup distinguishes a missing name from a refusal, though both come with HTTP 200', async () => {
      expect(await outbound.lookupTxt('absent.acme.test')).toMatchObject({
        rcode: 'NXDOMAIN',
        values: [],
      });
      expect(await outbound.lookupTxt('acme.example')).toMatchObject({
        rcode: 'REFUSED',
        values: [],
      });
    });

    test('a resolver whose certificate is not trusted is refused', async () => {
      const stranger = openNetwork({ doh: { resolverUrl: bind.resolverUrl } });
      closers.push(stranger.close);
      await expect(stranger.lookupTxt('acme.test')).rejects.toMatchObject({
        code: 'resolver_failed',
        extra: { reason: 'tls_untrusted' },
        hint: hintLike('doh.caFile'),
      });
    });
  },
);

type Listener = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

async function resolverOf(listener: Listener, limits = {}) {
  const server = createServer((request, response) => void listener(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const outbound = openNetwork(
    { doh: { resolverUrl: `http://127.0.0.1:${portOf(server)}/dns-query` } },
    limits,
  );
  closers.push(outbound.close, async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return outbound;
}

const queryOf = (request: IncomingMessage) =>
  new URL(request.url ?? '', 'http://resolver').searchParams;
const txt = (name: string, ...data: string[]): Answer => ({
  type: 'TXT',
  name,
  class: 'IN',
  ttl: 0,
  data,
});

function wire(packet: Partial<Packet>, query: Buffer): Buffer {
  const { id, questions } = decode(query);
  return encode({
    type: 'response',
    ...(id === undefined ? {} : { id }),
    questions: questions ?? [],
    ...packet,
  });
}

const wireBy = (packet: Partial<Packet>, seen: string[] = []): Listener => {
  return async (request, response) => {
    const body = await buffer(request);
    const query =
      request.method === 'POST'
        ? body
        : Buffer.from(queryOf(request).get('dns') ?? '', 'base64url');
    seen.push(`${request.method} ${decode(query).id} ${decode(query).questions?.[0]?.name}`);
    response.writeHead(200, { 'content-type': 'application/dns-message' }).end(wire(packet, query));
  };
};

describe('§4.4 DNS-over-HTTPS over HTTP/1.1', () => {
  test('S9 a resolver that the operator set may be private and in plain http, without outbound.allow', async () => {
    const outbound = await resolverOf(wireBy({ answers: [txt('acme.test', 'here')] }));
    expect((await outbound.lookupTxt('acme.test')).values).toEqual(['here']);
  });

  test('RFC 8484 §4.1 a lookup uses POST with the identifier 0', async () => {
    const seen: string[] = [];
    const outbound = await resolverOf(
      wireBy({ answers: [txt('ACME.test', 'svc-verify=', 'one')] }, seen),
    );
    expect(await outbound.lookupTxt('acme.test')).toEqual({
      rcode: 'NOERROR',
      truncated: false,
      values: ['svc-verify=one'],
    });
    expect(seen).toEqual(['POST 0 acme.test']);
  });

  test('RFC 8484 §4.1 a lookup uses GET if the resolver does not support POST', async () => {
    const answer = wireBy({ answers: [txt('acme.test', 'one')] });
    const outbound = await resolverOf((request, response) =>
      request.method === 'POST' ? void response.writeHead(405).end() : answer(request, response),
    );
    expect((await outbound.lookupTxt('acme.test')).values).toEqual(['one']);
  });

  test('D3 only records whose owner is the queried name count', async () => {
    const cname: Answer = {
      type: 'CNAME',
      name: 'acme.test',
      class: 'IN',
      ttl: 0,
      data: 'evil.test',
    };
    const outbound = await resolverOf(
      wireBy({ answers: [cname, txt('evil.test', 'svc-verify=one')] }),
    );
    expect((await outbound.lookupTxt('acme.test')).values).toEqual([]);
  });

  test('D3 a lookup reports SERVFAIL and truncation', async () => {
    const servfail = await resolverOf(wireBy({ flags: 2 }));
    expect(await servfail.lookupTxt('acme.test')).toMatchObject({
      rcode: 'SERVFAIL',
      truncated: false,
    });
    const truncated = await resolverOf(
      wireBy({ flags: 1 << 9, answers: [txt('acme.test', 'one')] }),
    );
    expect(await truncated.lookupTxt('acme.test')).toMatchObject({
      rcode: 'NOERROR',
      truncated: true,
    });
  });

  const speaksJson =
    (answer: (name: string | null, type: string | null) => unknown): Listener =>
    (request, response) => {
      const query = queryOf(request);
      if (request.method !== 'GET') return void response.writeHead(415).end();
      response.writeHead(200, { 'content-type': 'application/dns-json' });
      response.end(JSON.stringify(answer(query.get('name'), query.get('type'))));
    };

  test('§4.4 a lookup falls back to the JSON form, with quoted or bare values', async () => {
    const data = [
      '"svc-verify=one"',
      '"svc-verify=" "two"',
      'svc-verify=three',
      '"a \\"b\\" \\\\ \\065"',
      'say "x"',
    ];
    const outbound = await resolverOf(
      speaksJson((name, type) =>
        // A resolver with only the JSON form treats the wire query as a query without a name.
        name === null
          ? { Status: 3 }
          : {
              Status: 0,
              TC: false,
              Answer: [
                ...data.map((value) => ({
                  name: `${name}.`,
                  type: type === 'TXT' ? 16 : 0,
                  data: value,
                })),
                { name: 'other.test.', type: 16, data: 'svc-verify=other' },
                { name, type: 5, data: 'target.test.' },
              ],
            },
      ),
    );
    expect(await outbound.lookupTxt('acme.test')).toEqual({
      rcode: 'NOERROR',
      truncated: false,
      values: ['svc-verify=one', 'svc-verify=two', 'svc-verify=three', 'a "b" \\ A', 'say "x"'],
    });
  });

  test('§4.4 a lookup reads the response code and truncation of the JSON form', async () => {
    const missing = await resolverOf(speaksJson(() => ({ Status: 3, Answer: null })));
    expect(await missing.lookupTxt('acme.test')).toMatchObject({ rcode: 'NXDOMAIN', values: [] });
    const failing = await resolverOf(speaksJson(() => ({ Status: 2, TC: true })));
    expect(await failing.lookupTxt('acme.test')).toMatchObject({
      rcode: 'SERVFAIL',
      truncated: true,
    });
  });

  test.each<[string, Listener]>([
    ['HTTP 500', (_, response) => void response.writeHead(500).end()],
    ['HTTP 404 to all forms', (_, response) => void response.writeHead(404).end()],
    [
      'a page',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    ],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/x' }).end()],
    [
      'a query',
      (_, response) => void wireAnswer(response, encode({ type: 'query', questions: [] })),
    ],
    ['garbage', (_, response) => void wireAnswer(response, Buffer.from('garbage'))],
    ['nothing', (_, response) => void wireAnswer(response, Buffer.alloc(0))],
    ['2 MiB', (_, response) => void wireAnswer(response, Buffer.alloc(2 * 1024 * 1024))],
    ['silence', () => undefined],
    ['a hang-up', (_, response) => void response.destroy()],
  ])('§4.4 a resolver that answers with %s is refused', async (_, listener) => {
    const outbound = await resolverOf(listener, { total: 500 });
    await expect(outbound.lookupTxt('acme.test')).rejects.toMatchObject({
      code: 'resolver_failed',
      hint: hintLike('doh.resolverUrl'),
    });
  });
});

function wireAnswer(response: ServerResponse, body: Buffer) {
  response.writeHead(200, { 'content-type': 'application/dns-message' }).end(body);
}
