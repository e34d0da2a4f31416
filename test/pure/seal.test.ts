import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createKeyring, type Keyring } from '../../src/crypto/seal.ts';

const place = { table: 'sso_connections', column: 'client_secret', row: 'a' };
const keyring = createKeyring(randomBytes(32));
const refused = expect.objectContaining({ code: 'key_invalid' });

test('X1 a sealed secret opens with the same key and place, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (secret) => {
      expect(keyring.open(keyring.seal(secret, place), place)).toBe(secret);
    }),
  );
});

test('X1 the same secret is sealed to other bytes each time', () => {
  const sealed = Array.from({ length: 100 }, () => keyring.seal('secret', place));
  expect(new Set(sealed).size).toBe(100);
});

test.each([
  ['table', { ...place, table: 'ldap_connections' }],
  ['column', { ...place, column: 'name' }],
  ['row', { ...place, row: 'b' }],
])('X1 a sealed secret moved to another %s does not open', (_, elsewhere) => {
  const sealed = keyring.seal('secret', place);
  expect(() => keyring.open(sealed, elsewhere)).toThrow(refused);
});

test('X1 a sealed secret with any one bit changed does not open', () => {
  const [version, keyId, body = ''] = keyring.seal('secret', place).split('.');
  const bytes = Buffer.from(body, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(() =>
      keyring.open([version, keyId, altered.toString('base64url')].join('.'), place),
    ).toThrow(refused);
  }
});

test('X1 another master key is named as the cause', () => {
  const other = createKeyring(randomBytes(32));
  const sealed = other.seal('secret', place);
  expect(() => keyring.open(sealed, place)).toThrow(`sealed by key ${other.keyId}`);
  expect(() => keyring.open(sealed, place)).toThrow(refused);
});

test.each(['', 'secret', 'v1..', 'v2.AAAAAAAAAAA.AAAA', `v1.${keyring.keyId}.AAAA`])(
  'X1 %j is refused, because it is not a sealed value',
  (text) => {
    expect(() => keyring.open(text, place)).toThrow('is not a sealed value');
  },
);

test('X1 neither the secret nor the master key can be read from a sealed value, key id or derived key', () => {
  const masterKey = randomBytes(32);
  const mine = createKeyring(masterKey);
  const outside = [
    mine.seal('canary-secret', place),
    mine.keyId,
    mine.derive('a').export().toString('base64url'),
  ];
  expect(outside.join()).not.toContain('canary-secret');
  for (const spelling of ['hex', 'base64', 'base64url', 'latin1'] as const) {
    expect(outside.join()).not.toContain(masterKey.toString(spelling).slice(0, 11));
  }
});

test('X1 a derived key depends only on its purpose and the master key', () => {
  const twin = createKeyring(Buffer.alloc(32, 7));
  const bytes = (of: Keyring, purpose: string) => of.derive(purpose).export();
  expect(bytes(createKeyring(Buffer.alloc(32, 7)), 'state')).toEqual(bytes(twin, 'state'));
  expect(bytes(twin, 'other')).not.toEqual(bytes(twin, 'state'));
  expect(bytes(keyring, 'state')).not.toEqual(bytes(twin, 'state'));
  expect(bytes(twin, 'state')).toHaveLength(32);
});

test.each([0, 16, 31, 33])('X3 a master key of %i bytes is refused', (length) => {
  expect(() => createKeyring(Buffer.alloc(length))).toThrow(refused);
});
