import { z } from 'zod';
import { isLoopback } from '../../text/address.ts';

/** The origin of a server. A token is sent only over TLS, or within this machine. */
export const serverUrl = z
  .string()
  .refine(isServerUrl, 'must be https://HOST (or http:// on this machine), without a path')
  .transform((text) => new URL(text).origin);

function isServerUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#@]/.test(text) || url.pathname !== '/') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/** A token that can stand in a header (RFC 6750 §2.1). The message does not repeat the token. */
export const tokenText = z
  .string()
  .max(4096, 'is too long')
  .regex(/^[A-Za-z0-9._~+/-]+=*$/, 'is not a token');
