import type { IncomingMessage } from 'node:http';
import { Refusal } from '../errors.ts';
import { readCookie } from './cookies.ts';

/** The part of the request that carried the credential. */
type CredentialSource = 'bearer' | 'apiKey' | 'cookie';

/** The credential that authenticates the request. */
export interface Credential {
  value: string;
  at: CredentialSource;
}

const longest = 4096;
// RFC 6750 §2.1; every idctl token matches it.
const token = /^[A-Za-z0-9._~+/-]+=*$/;
const names = {
  bearer: 'The Bearer token',
  apiKey: 'The x-api-key header',
  cookie: 'The cookie access_token',
};

/**
 * Finds the first credential present (spec §5.1): Bearer, x-api-key, cookie. A credential that is
 * malformed, empty, too long or sent twice is refused as `invalid_credential`. The next credential
 * is then not used (P3).
 */
export function findCredential(request: IncomingMessage): Credential | null {
  const { authorization, 'x-api-key': apiKey } = request.headersDistinct;
  const bearer = authorization && bearerOf(authorization);
  if (bearer !== undefined) return check('bearer', bearer);
  if (apiKey !== undefined) return check('apiKey', single('apiKey', apiKey));
  const cookie = readCookie(request.headers.cookie, 'access_token');
  return cookie === undefined ? null : check('cookie', cookie);
}

/** The Bearer token; undefined if the header uses a different scheme. */
function bearerOf(values: string[]): string | undefined {
  const value = single('bearer', values);
  if (value === '') return '';
  // The scheme ends at the first non-token character (RFC 9110 §5.6.2). So `Bearer` with a tab
  // after it is a malformed Bearer token.
  return /^bearer(?![\w!#$%&'*+.^`|~-]) *(.*)$/is.exec(value)?.[1];
}

function single(at: CredentialSource, values: string[]): string {
  const [value = '', ...more] = values;
  if (more.length > 0) throw refuse(at, 'was sent more than once');
  return value;
}

function check(at: CredentialSource, value: string): Credential {
  if (value === '') throw refuse(at, 'is empty');
  if (value.length > longest) throw refuse(at, `is longer than ${longest} bytes`);
  if (!token.test(value)) throw refuse(at, 'is malformed');
  return { value, at };
}

function refuse(at: CredentialSource, fault: string): Refusal {
  return new Refusal('invalid_credential', `${names[at]} ${fault}.`);
}
