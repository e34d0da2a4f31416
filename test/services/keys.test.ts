import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  generateSigningKey,
  signToken,
  type TokenClaims,
  verifyToken,
} from '../../src/crypto/jwt.ts';
import { createKeyring, type Keyring } from '../../src/crypto/seal.ts';
import { KeyCanary } from '../../src/database/models/key-canary.ts';
import { SigningKey } from '../../src/database/models/signing-key.ts';
import type { Database } from '../../src/database/open.ts';
import { transaction } from '../../src/database/transaction.ts';
import { ensureSigningKey, requireRightKey } from '../../src/services/foundation/keys/open.ts';
import {
  columnOfPrivateJwk,
  currentSigner,
  findVerificationKey,
  jwksView,
  requireSigner,
  viewJwks,
} from '../../src/services/foundation/keys/signing-key.ts';
import { openFreshDatabase } from '../support/database.ts';

const start = new Date('2026-11-20T12:00:00Z');
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const masterKey = randomBytes(32);
const keyFile = '/etc/idctl/master.key';
const stranger = createKeyring(randomBytes(32));

let database: Database;
let keyring: Keyring;

beforeEach(async () => {
  database = await openFreshDatabase();
  keyring = createKeyring(masterKey);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await database.close();
});

const claims: TokenClaims = {
  iss: 'https://id.example.com',
  aud: 'https://id.example.com',
  sub: 'account',
  sid: 'session',
  jti: 'token',
  iat: start.getTime() / 1000,
  exp: start.getTime() / 1000 + 900,
};

const at = (now: Date, ring = keyring) => ({ keyring: ring, now });

/** Verifies a token as a process with this keyring would, and returns its claims. */
const read = (token: string, ctx: { keyring: Keyring; now: Date }) =>
  verifyToken(token, {
    typ: 'at+jwt',
    issuer: claims.iss,
    audience: claims.aud,
    findKey: (kid) => findVerificationKey(ctx, kid),
    now: start,
  });

/** Adds a signing key, as another process of the instance would. */
async function addKey(createdAt: Date): Promise<string> {
  const { kid, publicJwk, privateJwk } = await generateSigningKey();
  const sealed = keyring.seal(JSON.stringify(privateJwk), columnOfPrivateJwk(kid));
  await transaction(() => SigningKey.create({ id: kid, publicJwk, privateJwk: sealed, createdAt }));
  return kid;
}

test('X3 the first master key becomes the key of the database; another is refused, and the message names its file', async () => {
  await requireRightKey({ keyring, keyFile, now: start });
  await requireRightKey({ keyring: createKeyring(masterKey), keyFile, now: later(1) });
  await expect(
    requireRightKey({ keyring: stranger, keyFile, now: later(1) }),
  ).rejects.toMatchObject({
    code: 'key_invalid',
    message: `The master key ${keyFile} (${stranger.keyId}) is not the key of this database (${keyring.keyId}).`,
  });
  expect(await KeyCanary.count()).toBe(1);
});

test('X3 if the canary is missing but the database has sealed rows, another key is refused', async () => {
  await requireRightKey({ keyring, keyFile, now: start });
  await ensureSigningKey(at(start));
  await transaction(() => KeyCanary.destroy({ where: {} }));
  await expect(requireRightKey({ keyring: stranger, keyFile, now: start })).rejects.toMatchObject({
    code: 'key_invalid',
  });
  expect(await KeyCanary.count()).toBe(0);
});

test('X3 an altered canary is refused', async () => {
  await requireRightKey({ keyring, keyFile, now: start });
  const other = keyring.seal('idctl', {
    table: 'key_canaries',
    column: 'sealed',
    row: 'elsewhere',
  });
  await transaction(() => KeyCanary.update({ sealed: other }, { where: {} }));
  await expect(requireRightKey({ keyring, keyFile, now: start })).rejects.toMatchObject({
    code: 'key_invalid',
  });
});

test('X3 daemons that start at once with the same key all run', async () => {
  const starts = Array.from({ length: 4 }, () =>
    requireRightKey({ keyring: createKeyring(masterKey), keyFile, now: start }),
  );
  await Promise.all(starts);
  expect(await KeyCanary.count()).toBe(1);
});

test('X3 if two daemons start at once on an empty database with different keys, one is refused', async () => {
  const starts = [keyring, stranger].map((ring) =>
    requireRightKey({ keyring: ring, keyFile, now: start }),
  );
  const ends = await Promise.allSettled(starts);
  expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'key_invalid' },
  });
  expect(await KeyCanary.count()).toBe(1);
});

test('X2 if the database has no signing key, signing is refused and no key is made', async () => {
  await expect(currentSigner(at(start))).rejects.toMatchObject({ code: 'not_ready' });
  expect(await SigningKey.count()).toBe(0);
});

test('X2 exactly one signing key is made, and its private half is stored sealed', async () => {
  await ensureSigningKey(at(start));
  await ensureSigningKey(at(later(1)));
  const [row, ...more] = await SigningKey.findAll();
  expect(more).toEqual([]);
  expect(row?.privateJwk).toMatch(/^v1\./);
  expect(JSON.stringify(row?.publicJwk)).not.toContain('"d"');
  const signer = await currentSigner(at(start));
  expect(signer.kid).toBe(row?.id);
  const token = await signToken({ typ: 'at+jwt', signer, claims });
  expect(await read(token, at(start))).toEqual(claims);
});

test('X1 a private key moved to another row does not open', async () => {
  await ensureSigningKey(at(start));
  await transaction(() => SigningKey.update({ id: 'elsewhere' }, { where: {} }));
  await expect(currentSigner(at(start))).rejects.toMatchObject({ code: 'key_invalid' });
});

test('X2 daemons that start at once verify each other’s signatures', async () => {
  const rings = Array.from({ length: 3 }, () => createKeyring(masterKey));
  await Promise.all(rings.map((ring) => ensureSigningKey(at(start, ring))));
  for (const signing of rings) {
    const signer = await currentSigner(at(start, signing));
    const token = await signToken({ typ: 'at+jwt', signer, claims });
    for (const verifying of rings)
      expect(await read(token, at(later(1), verifying))).toEqual(claims);
  }
});

test('X2 a signing key that another daemon has just made is found at once', async () => {
  await ensureSigningKey(at(start));
  await currentSigner(at(start));
  const kid = await addKey(later(1));
  expect(await findVerificationKey(at(later(1)), kid)).not.toBeNull();
});

test('P1 invented key ids do not cost a query each', async () => {
  await ensureSigningKey(at(start));
  await currentSigner(at(start));
  const query = vi.spyOn(SigningKey, 'findAll');
  for (let n = 0; n < 50; n += 1)
    expect(await findVerificationKey(at(later(1)), `made-up-${n}`)).toBeNull();
  await Promise.all(
    Array.from({ length: 50 }, (_, n) => findVerificationKey(at(later(2)), `made-up-${n}`)),
  );
  expect(query).toHaveBeenCalledTimes(1);
  await findVerificationKey(at(later(10)), 'made-up');
  expect(query).toHaveBeenCalledTimes(2);
});

test('X2 the keys are read at most once a minute, whatever the number of requests', async () => {
  await ensureSigningKey(at(start));
  const query = vi.spyOn(SigningKey, 'findAll');
  await Promise.all(Array.from({ length: 20 }, () => currentSigner(at(start))));
  await currentSigner(at(later(59)));
  expect(query).toHaveBeenCalledTimes(1);
  await Promise.all(Array.from({ length: 20 }, () => currentSigner(at(later(61)))));
  expect(query).toHaveBeenCalledTimes(2);
});

test('X2 a retired key does not sign new tokens, verifies its own, and signs the same claims to the same bytes', async () => {
  await ensureSigningKey(at(start));
  const old = await currentSigner(at(start));
  const token = await signToken({ typ: 'at+jwt', signer: old, claims });
  const kid = await addKey(later(1));
  await transaction(() => SigningKey.update({ retiredAt: later(1) }, { where: { id: old.kid } }));
  const afterwards = at(later(120));
  expect((await currentSigner(afterwards)).kid).toBe(kid);
  expect(await read(token, afterwards)).toEqual(claims);
  const again = await requireSigner(afterwards, old.kid);
  expect(await signToken({ typ: 'at+jwt', signer: again, claims })).toBe(token);
});

test('X2 a deleted key verifies and signs nothing', async () => {
  await ensureSigningKey(at(start));
  const { kid } = await currentSigner(at(start));
  await transaction(() => SigningKey.destroy({ where: { id: kid } }));
  expect(await findVerificationKey(at(later(61)), kid)).toBeNull();
  await expect(requireSigner(at(later(61)), kid)).rejects.toMatchObject({
    code: 'invalid_credential',
  });
});

test('X2 the public keys are published without their private halves', async () => {
  await ensureSigningKey(at(start));
  const kid = await addKey(later(1));
  const { keys } = jwksView.parse(await viewJwks(at(later(61))));
  expect(keys).toHaveLength(2);
  expect(keys[0]).toMatchObject({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid });
  expect(JSON.stringify(keys)).not.toContain('"d"');
});

test('X2 a failed read of the keys is not cached', async () => {
  await ensureSigningKey(at(start));
  vi.spyOn(SigningKey, 'findAll').mockRejectedValueOnce(new Error('the database is gone'));
  await expect(currentSigner(at(start))).rejects.toThrow('the database is gone');
  expect(await currentSigner(at(start))).toBeDefined();
});
