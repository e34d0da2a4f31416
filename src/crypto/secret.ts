import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Random text of at least this many bits (128 or 256), safe in a URL. */
export function randomToken(bits: 128 | 256): string {
  return randomBytes(bits / 8).toString('base64url');
}

// Without i, l, o, 0 and 1, which people confuse: 31 characters.
const readable = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A password for a person to copy: four groups of six unmistakable characters, 118 random bits. */
export function randomPassword(): string {
  const sign = () => readable.charAt(randomInt(readable.length));
  const group = () => Array.from({ length: 6 }, sign).join('');
  return Array.from({ length: 4 }, group).join('-');
}

/** The prefix of a secret. It tells people and scanners what they have found. */
export type SecretKind = 'cos_pat_' | 'scim_' | 'cos_secret_';

/** A new secret. `value` is shown once; `prefix` and `hash` are stored. */
export interface NewSecret {
  value: string;
  /** Not secret: the beginning of the value, by which people tell their secrets apart. */
  prefix: string;
  /** SHA-256 in hex. */
  hash: string;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// 190 random bits, 24 of them shown in the prefix. The checksum follows, in as many characters as
// 32 bits take.
const randomSigns = 32;
const shownSigns = 4;
const checksumSigns = 6;

/**
 * Makes a secret of this kind (security P13): 166 bits that are never shown again, and a checksum.
 */
export function newSecret(kind: SecretKind): NewSecret {
  const random = Array.from({ length: randomSigns }, () =>
    base62.charAt(randomInt(base62.length)),
  ).join('');
  const value = kind + random + checksum(kind + random);
  return { value, prefix: kind + random.slice(0, shownSigns), hash: sha256(value) };
}

/**
 * The hash under which a secret of this kind is stored, or null if its form or checksum is wrong.
 */
export function hashOfSecret(kind: SecretKind, value: string): string | null {
  const body = value.slice(0, -checksumSigns);
  const formed =
    value.length === kind.length + randomSigns + checksumSigns && value.startsWith(kind);
  return formed && value === body + checksum(body) ? sha256(value) : null;
}

function checksum(text: string): string {
  let rest = crc32(text);
  return Array.from({ length: checksumSigns }, () => {
    const sign = base62.charAt(rest % base62.length);
    rest = Math.floor(rest / base62.length);
    return sign;
  }).join('');
}

/** The form in which a random token, a ticket or a cookie is stored. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Compares two texts in constant time, which reveals neither where they differ nor how long they
 * are.
 */
export function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
