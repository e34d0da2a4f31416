import { type DecodedPacket, decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { z } from 'zod';
import { Refusal } from '../errors.ts';
import type { BoundedFetch, RequestOptions } from './http.ts';
import type { TxtAnswer } from './outbound.ts';

const wireType = 'application/dns-message';
const hint = {
  technical: 'Check doh.resolverUrl and doh.caFile, and that this machine can reach the resolver.',
};

/**
 * Looks up TXT records at a DNS-over-HTTPS resolver. Tries the RFC 8484 wire format with POST, then
 * with GET, then the JSON form. Uses the first form that the resolver supports. Refuses
 * with `resolver_failed`.
 */
export function createResolver(
  fetch: BoundedFetch,
  resolverUrl: string,
): (domain: string) => Promise<TxtAnswer> {
  return async (domain) => {
    let status = 0;
    for (const { form, url, request } of questions(resolverUrl, domain)) {
      const response = await fetch(url, request).catch(unreachable);
      status = response.status;
      if (status >= 500 && status !== 501) break;
      if (!response.ok) continue;
      const type = response.headers.get('content-type')?.split(';')[0]?.trim();
      if (type === wireType) return readWire(await response.bytes(), domain);
      if (form === 'json') return readJson(await response.text(), domain);
    }
    throw failed(`The resolver answered HTTP ${status} to a DNS query`);
  };
}

interface Question {
  form: 'wire' | 'json';
  url: string;
  request: RequestOptions;
}

function questions(resolverUrl: string, domain: string): Question[] {
  // RFC 8484 §4.1: the identifier is 0.
  const query = encode({
    id: 0,
    type: 'query',
    flags: RECURSION_DESIRED,
    questions: [{ type: 'TXT', name: domain }],
  });
  const get = new URL(resolverUrl);
  get.searchParams.set('dns', query.toString('base64url'));
  const json = new URL(resolverUrl);
  json.searchParams.set('name', domain);
  json.searchParams.set('type', 'TXT');
  const accept = { accept: wireType };
  return [
    {
      form: 'wire',
      url: resolverUrl,
      request: { method: 'POST', headers: { ...accept, 'content-type': wireType }, body: query },
    },
    { form: 'wire', url: get.href, request: { headers: accept } },
    { form: 'json', url: json.href, request: { headers: { accept: 'application/dns-json' } } },
  ];
}

function readWire(body: Uint8Array, domain: string): TxtAnswer {
  const packet = decodeWire(body);
  const values = (packet.answers ?? []).flatMap((record) =>
    record.type === 'TXT' && isOwner(record.name, domain) ? [joined(record.data)] : [],
  );
  return { rcode: rcodeName((packet.flags ?? 0) & 0xf), truncated: packet.flag_tc, values };
}

function decodeWire(body: Uint8Array): DecodedPacket {
  try {
    const packet = decode(Buffer.from(body));
    if (packet.type === 'response') return packet;
  } catch (cause) {
    throw failed('The resolver answered with a malformed DNS message', cause);
  }
  throw failed('The resolver answered with something that is not a DNS response');
}

function joined(data: string | Buffer | (string | Buffer)[]): string {
  return Buffer.concat([data].flat().map((part) => Buffer.from(part))).toString();
}

const jsonAnswer = z.object({
  Status: z.int().min(0),
  TC: z.boolean().default(false),
  Answer: z
    .array(z.object({ name: z.string(), type: z.int(), data: z.string() }))
    .nullish()
    .transform((records) => records ?? []),
});

function readJson(body: string, domain: string): TxtAnswer {
  const { Status, TC, Answer } = parseJson(body);
  const values = Answer.filter((record) => record.type === 16 && isOwner(record.name, domain));
  return {
    rcode: rcodeName(Status),
    truncated: TC,
    values: values.map(({ data }) => unquoted(data)),
  };
}

function parseJson(body: string): z.output<typeof jsonAnswer> {
  try {
    return jsonAnswer.parse(JSON.parse(body));
  } catch (cause) {
    throw failed('The resolver answered with something that is not a DNS response', cause);
  }
}

// Some resolvers write the value as in a zone file ("…" "…", \", \DDD), others as plain text.
function unquoted(data: string): string {
  if (!/^\s*("(?:[^"\\]|\\.)*"\s*)+$/s.test(data)) return data;
  const strings = data.match(/"(?:[^"\\]|\\.)*"/gs) ?? [];
  return strings
    .map((text) =>
      text.slice(1, -1).replace(/\\(\d{3}|.)/gs, (_, escaped: string) => character(escaped)),
    )
    .join('');
}

function character(escaped: string): string {
  return escaped.length === 3 ? String.fromCharCode(Number(escaped)) : escaped;
}

// Security D3: a record at the target of a CNAME has another name, so it does not count.
function isOwner(name: string, domain: string): boolean {
  const canonical = (text: string) => text.toLowerCase().replace(/\.$/, '');
  return canonical(name) === canonical(domain);
}

const rcodes = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];

function rcodeName(code: number): string {
  return rcodes[code] ?? `RCODE_${code}`;
}

function unreachable(error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  throw new Refusal('resolver_failed', `The resolver ${error.message}`, {
    hint,
    failure: error.failure,
    extra: error.extra,
    cause: error,
  });
}

function failed(message: string, cause?: unknown): Refusal {
  const failure = { reason: 'malformed' } as const;
  return new Refusal('resolver_failed', message, { hint, failure, extra: failure, cause });
}
