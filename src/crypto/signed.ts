import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

const longest = 4096;

/**
 * Signs the payload as base64url(JSON), a dot, and its HMAC-SHA-256. Only a holder of the key can
 * do this.
 */
export function signState(key: KeyObject, payload: object): string {
  const body = Buffer.from(JSON.stringify(payload)).toString('base64url');
  return `${body}.${mac(key, body)}`;
}

/** The payload of a text that `signState` created with this key; null for any other text. */
export function openState(key: KeyObject, text: string): unknown | null {
  if (text.length > longest) return null;
  const dot = text.indexOf('.');
  if (dot === -1) return null;
  const body = text.slice(0, dot);
  // Compared as text, so that only one encoding of the signature is accepted.
  const expected = Buffer.from(mac(key, body));
  const given = Buffer.from(text.slice(dot + 1));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
}

function mac(key: KeyObject, body: string): string {
  return createHmac('sha256', key).update(body).digest('base64url');
}
