import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { Refusal } from '../errors.ts';

// RFC 9112 §3.2: one name or address, with a port or without. It may be empty.
const sound = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Refuses a request that does not name exactly one host: a proxy in front could read another one than idctl. */
export const requireOneHost: RequestHandler = (request, _response, next) => {
  const fault = faultOf(request);
  if (fault === null) return next();
  throw new Refusal('malformed_request', fault, {
    hint: 'Send one Host header with the host and port of the address that you ask.',
  });
};

function faultOf({ httpVersion, headersDistinct, url = '' }: IncomingMessage): string | null {
  const [host, ...more] = headersDistinct['host'] ?? [];
  if (more.length > 0) return `The Host header was sent ${more.length + 1} times.`;
  if (host === undefined) return httpVersion === '1.1' ? 'The Host header is missing.' : null;
  if (!sound.test(host)) return 'The Host header is not the name of a host.';
  const target = url.startsWith('/') ? null : URL.parse(url);
  if (target === null) return null;
  const named = URL.parse(`${target.protocol}//${host}`)?.host;
  return named === target.host ? null : 'The Host header and the target of the request name different hosts.';
}
