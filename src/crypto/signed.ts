import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

const longest = 4096;

/**
 * Signs the payload so that only a holder of the key can make the text: base64url(JSON), a dot, its
 * HMAC-SHA-256.
 */
export function signState(key: KeyObject, payload: object): string {
  const body = Buffer.from(JSON.stringify(payload)).toString('base64url');
  return `${body}.${mac(key, body)}`;
}

/** The payload that `signState` signed with this key, or null for any other text. */
export function openState(key: KeyObject, text: string): unknown | null {
  if (text.length > longest) return null;
  const dot = text.indexOf('.');
  if (dot === -1) return null;
  const body = text.slice(0, dot);
  // Compared as text, so that a second spelling of the same signature is refused.
  const expected = Buffer.from(mac(key, body));
  const given = Buffer.from(text.slice(dot + 1));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
}

function mac(key: KeyObject, body: string): string {
  return createHmac('sha256', key).update(body).digest('base64url');
}
