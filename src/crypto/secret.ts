import { randomBytes, randomInt } from 'node:crypto';

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
