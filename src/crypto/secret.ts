import { createHash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Random text of at least this many bits (128 or 256), safe in a URL. */
export function randomToken(bits: 128 | 256): string {
  return randomBytes(bits / 8).toString('base64url');
}

// Without i, l, o, 0 and 1, which people mistake for one another: 31 signs.
const readable = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A password for a person to copy: four groups of six unmistakable signs, 118 random bits. */
export function randomPassword(): string {
  const sign = () => readable.charAt(randomInt(readable.length));
  const group = () => Array.from({ length: 6 }, sign).join('');
  return Array.from({ length: 4 }, group).join('-');
}

/** What a secret of ours begins with; it tells people and scanners what they have found. */
export type SecretKind = 'cos_pat_' | 'scim_' | 'cos_secret_';

/** A secret just made: shown once as `value`, kept as the other two. */
export interface NewSecret {
  value: string;
  /** Not secret: what it begins with, for people to tell theirs apart. */
  prefix: string;
  /** SHA-256 in hex. */
  hash: string;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// 190 random bits, of which the prefix shows 24; after them the checksum, in as many signs as 32 bits take.
const randomSigns = 32;
const shownSigns = 4;
const checksumSigns = 6;

/** A new secret of this kind (security P13): 166 bits that nobody is shown again, and a checksum. */
export function newSecret(kind: SecretKind): NewSecret {
  const random = Array.from({ length: randomSigns }, () =>
    base62.charAt(randomInt(base62.length)),
  ).join('');
  const value = kind + random + checksum(kind + random);
  return { value, prefix: kind + random.slice(0, shownSigns), hash: sha256(value) };
}

/** The hash under which a secret of this kind is kept, or null when its form or checksum says that it is none. */
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

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
