import { generateKeySync } from 'node:crypto';
import { expect, test } from 'vitest';
import { isEqual, randomPassword, randomToken } from '../../src/crypto/secret.ts';
import { openState, signState } from '../../src/crypto/signed.ts';

const key = generateKeySync('hmac', { length: 256 });
const payload = { id: 'ø', connection: 'c', expires: 1 };

test('S2 a signed state opens with its key and is safe in a URL', () => {
  const text = signState(key, payload);
  expect(openState(key, text)).toEqual(payload);
  expect(encodeURIComponent(text)).toBe(text);
});

test('S2 a state signed by another key is refused', () => {
  expect(openState(generateKeySync('hmac', { length: 256 }), signState(key, payload))).toBeNull();
});

test('S2 a state with any character changed, or with characters added or cut off, is refused', () => {
  const text = signState(key, payload);
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] === 'A' ? 'B' : 'A';
    expect(openState(key, text.slice(0, at) + sign + text.slice(at + 1)), `at ${at}`).toBeNull();
    expect(openState(key, text.slice(0, at)), `up to ${at}`).toBeNull();
  }
  for (const more of [`${text}A`, `${text}=`, `${text}.`, ` ${text}`, `${text}\n`]) {
    expect(openState(key, more)).toBeNull();
  }
});

test.each(['', '.', '..', 'e30', 'e30.', '.e30', 'x'.repeat(100_000)])(
  'S2 text that is not a state is refused',
  (text) => {
    expect(openState(key, text)).toBeNull();
  },
);

test('P13 secrets are compared whole', () => {
  expect(isEqual('secret', 'secret')).toBe(true);
  expect(isEqual('', '')).toBe(true);
  for (const other of ['', 'secre', 'secrets', 'Secret', 'secreT'])
    expect(isEqual('secret', other)).toBe(false);
});

test('S2 a random token has the requested bits, and no two are equal', () => {
  expect(Buffer.from(randomToken(256), 'base64url')).toHaveLength(32);
  expect(Buffer.from(randomToken(128), 'base64url')).toHaveLength(16);
  expect(new Set(Array.from({ length: 1000 }, () => randomToken(128))).size).toBe(1000);
});

test('§8 a generated password is one that idctl accepts and a person can copy', () => {
  const passwords = Array.from({ length: 1000 }, randomPassword);
  expect(new Set(passwords).size).toBe(1000);
  for (const password of passwords)
    expect(password).toMatch(/^([a-hjkmnp-z2-9]{6}-){3}[a-hjkmnp-z2-9]{6}$/);
});
