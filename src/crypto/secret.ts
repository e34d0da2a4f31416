import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A random text of this many bits, safe in URLs. */
export function randomToken(bits: 128 | 256): string {
  return randomBytes(bits / 8).toString('base64url');
}

// 31 characters: without i, l, o, 0 and 1, which people confuse.
const readable = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A password to copy by hand: four groups of six characters, with 118 random bits. */
export function randomPassword(): string {
  const sign = () => readable.charAt(randomInt(readable.length));
  const group = () => Array.from({ length: 6 }, sign).join('');
  return Array.from({ length: 4 }, group).join('-');
}

/** The prefix of a secret. It shows people and secret scanners what the secret is. */
export type SecretKind = 'cos_pat_' | 'scim_' | 'cos_secret_';

/** A new secret. `value` is shown once; `prefix` and `hash` are stored. */
export interface NewSecret {
  value: string;
  /** The start of the value. It is not secret, and helps people to identify the secret. */
  prefix: string;
  /** SHA-256 of the value, in hex. */
  hash: string;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// 190 random bits, then a checksum of 32 bits. The prefix shows 24 of the random bits.
const randomCharacters = 32;
const shownCharacters = 4;
const checksumCharacters = 6;

/** Generates a secret of this kind (security P13), with 166 random bits besides its prefix. */
export function newSecret(kind: SecretKind): NewSecret {
  const random = Array.from({ length: randomCharacters }, () =>
    base62.charAt(randomInt(base62.length)),
  ).join('');
  const value = kind + random + checksum(kind + random);
  return { value, prefix: kind + random.slice(0, shownCharacters), hash: sha256(value) };
}

/** The stored hash of a secret of this kind; null if its form or checksum is wrong. */
export function hashOfSecret(kind: SecretKind, value: string): string | null {
  const body = value.slice(0, -checksumCharacters);
  const formed =
    value.length === kind.length + randomCharacters + checksumCharacters && value.startsWith(kind);
  return formed && value === body + checksum(body) ? sha256(value) : null;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let signs = '';
  while (signs.length < checksumCharacters) {
    signs += base62.charAt(rest % base62.length);
    rest = Math.floor(rest / base62.length);
  }
  return signs;
}

/** The form in which random tokens, tickets and cookies are stored. */
export function hashOfToken(token: string): string {
  return hash('sha256', token, 'base64url');
}

function sha256(text: string): string {
  return hash('sha256', text);
}

/**
 * Compares the hashes of two texts in constant time, so the time does not reveal where the texts
 * differ.
 */
export function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
