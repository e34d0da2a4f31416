import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, SignJWT } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import {
  generateRsaKey,
  generateSigningKey,
  importSigner,
  importVerificationKey,
  type PublicJwk,
  signToken,
  type TokenClaims,
  type TokenSigner,
  type VerificationKey,
  verifyToken,
} from '../../src/crypto/jwt.ts';

const now = new Date('2026-11-20T12:00:00Z');
const seconds = now.getTime() / 1000;
const claims: TokenClaims = {
  iss: 'https://id.example.com',
  aud: 'https://id.example.com',
  sub: 'account',
  sid: 'session',
  jti: 'token',
  iat: seconds - 60,
  exp: seconds + 840,
};

let signer: TokenSigner;
let publicJwk: PublicJwk;
let trusted: Map<string, VerificationKey>;

beforeAll(async () => {
  const made = await generateSigningKey();
  publicJwk = made.publicJwk;
  signer = await importSigner(made.kid, made.privateJwk);
  trusted = new Map([[made.kid, await importVerificationKey(publicJwk)]]);
});

const verify = (token: string, at = now, typ: 'at+jwt' | 'rt+jwt' = 'at+jwt') =>
  verifyToken(token, {
    typ,
    issuer: claims.iss,
    audience: claims.aud,
    findKey: async (kid) => trusted.get(kid) ?? null,
    now: at,
  });

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token as an attacker who has the signing key would make it: any header, any claims. */
const forge = (header: Record<string, unknown>, payload: Record<string, unknown> = claims) =>
  new SignJWT(payload)
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: signer.kid, ...header })
    .sign(signer.key, { crit: { 'urn:example': true } });

test('§5.2 the public key is enough to verify a token and read its claims', async () => {
  const token = await signToken({ typ: 'at+jwt', signer, claims });
  expect(await verify(token)).toEqual(claims);
});

test('P4 the same key and claims give the same bytes, in any order of the claims', async () => {
  const token = await signToken({ typ: 'rt+jwt', signer, claims });
  const reversed = Object.fromEntries(Object.entries(claims).reverse()) as unknown as TokenClaims;
  expect(await signToken({ typ: 'rt+jwt', signer, claims: reversed })).toBe(token);
});

test.each([
  ['Ed25519', generateSigningKey, ['alg', 'crv', 'kid', 'kty', 'use', 'x']],
  ['RSA', generateRsaKey, ['alg', 'e', 'kid', 'kty', 'n', 'use']],
])(
  'X2 a public key of %s contains nothing private, and its id is its thumbprint',
  async (_, generate, members) => {
    const made = await generate();
    expect(Object.keys(made.publicJwk).sort()).toEqual(members);
    // RFC 7638: the SHA-256 of the required members, which the private key has too.
    expect(made.publicJwk.kid).toBe(await calculateJwkThumbprint(made.publicJwk));
    expect(made.kid).toBe(await calculateJwkThumbprint(made.privateJwk));
  },
);

test('P1 the forging helper of these tests makes a valid token if nothing is changed', async () => {
  expect(await verify(await forge({}))).toEqual(claims);
});

test.each([
  ['a jku', { jku: 'https://evil.example/jwks' }],
  ['an x5u', { x5u: 'https://evil.example/x5u' }],
  ['an x5c', { x5c: ['MIIB'] }],
  ['a jwk', { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'AA' } }],
  ['a critical extension', { crit: ['urn:example'], 'urn:example': true }],
  ['a critical b64', { crit: ['b64'], b64: true }],
  ['a compression', { zip: 'DEF' }],
  ['any other member', { cty: 'JWT' }],
  ['no typ', { typ: undefined }],
  ['the plain typ', { typ: 'JWT' }],
  ['the typ spelled in full', { typ: 'application/at+jwt' }],
  ['the typ in capitals', { typ: 'AT+JWT' }],
  ['the other typ', { typ: 'rt+jwt' }],
  ['no kid', { kid: undefined }],
  ['an unknown kid', { kid: 'unknown' }],
  ['an empty kid', { kid: '' }],
  ['a kid that is a path', { kid: '../../dev/null' }],
])('P1 a header with %s is refused', async (_, header) => {
  expect(await verify(await forge(header))).toBeNull();
});

test.each([
  ['another issuer', { iss: 'https://evil.example' }],
  ['no issuer', { iss: undefined }],
  ['another audience', { aud: 'https://other.example' }],
  ['a list of audiences', { aud: [claims.aud, 'https://other.example'] }],
  ['no audience', { aud: undefined }],
  ['no subject', { sub: undefined }],
  ['an empty subject', { sub: '' }],
  ['no session', { sid: undefined }],
  ['a session that is not text', { sid: { $ne: null } }],
  ['no token id', { jti: undefined }],
  ['no expiry', { exp: undefined }],
  ['an expiry as text', { exp: '9999999999' }],
  ['an expiry of now', { exp: seconds }],
  ['an expiry in the past', { exp: seconds - 1 }],
  ['a claim that idctl never sets', { admin: true }],
])('P1 a token with %s is refused', async (_, change) => {
  expect(await verify(await forge({}, { ...claims, ...change }))).toBeNull();
});

test('§7 a token expires at the exact second', async () => {
  const token = await signToken({ typ: 'at+jwt', signer, claims });
  expect(await verify(token, new Date((claims.exp - 1) * 1000))).toEqual(claims);
  expect(await verify(token, new Date(claims.exp * 1000))).toBeNull();
});

test('P1 an access token is not accepted as a refresh token, nor the reverse', async () => {
  const access = await signToken({ typ: 'at+jwt', signer, claims });
  const refresh = await signToken({ typ: 'rt+jwt', signer, claims });
  expect(await verify(access, now, 'rt+jwt')).toBeNull();
  expect(await verify(refresh, now, 'at+jwt')).toBeNull();
  expect(await verify(refresh, now, 'rt+jwt')).toEqual(claims);
});

test.each(['none', 'None', 'NONE', ''])('P1 the algorithm %j is refused', async (alg) => {
  const unsigned = `${encode({ alg, typ: 'at+jwt', kid: signer.kid })}.${encode(claims)}.`;
  expect(await verify(unsigned)).toBeNull();
});

test('P1 the public key is not accepted as an HMAC key', async () => {
  const body = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: signer.kid })}.${encode(claims)}`;
  for (const key of [
    publicJwk.x,
    Buffer.from(publicJwk.x, 'base64url'),
    JSON.stringify(publicJwk),
  ]) {
    const mac = createHmac('sha256', key).update(body).digest('base64url');
    expect(await verify(`${body}.${mac}`)).toBeNull();
  }
});

test('P1 a token with the right algorithm and key id but another key is refused', async () => {
  const other = await generateSigningKey();
  const stranger = await importSigner(signer.kid, other.privateJwk);
  expect(await verify(await signToken({ typ: 'at+jwt', signer: stranger, claims }))).toBeNull();
});

test('P1 a token of another algorithm is refused, even if its key is known', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: signer.kid })
    .sign(privateKey);
  expect(await verify(token)).toBeNull();
  await expect(importVerificationKey(await exportJWK(publicKey))).rejects.toThrow();
});

test('P1 a token with any one character changed is refused', async () => {
  const token = await signToken({ typ: 'at+jwt', signer, claims });
  for (let at = 0; at < token.length; at += 1) {
    const sign = token[at] === 'A' ? 'g' : 'A';
    expect(await verify(token.slice(0, at) + sign + token.slice(at + 1)), `at ${at}`).toBeNull();
  }
});

test('P1 a token beyond 4 KiB is refused before it is parsed', async () => {
  let asked = false;
  const token = await forge({}, { ...claims, sub: 'a'.repeat(4096) });
  const findKey = async () => {
    asked = true;
    return trusted.get(signer.kid) ?? null;
  };
  const expected = {
    typ: 'at+jwt',
    issuer: claims.iss,
    audience: claims.aud,
    findKey,
    now,
  } as const;
  expect(await verifyToken(token, expected)).toBeNull();
  expect(asked).toBe(false);
});

test.each([
  '',
  '.',
  '..',
  '...',
  'a.b.c',
  'cos_pat_x',
  'e30.e30.e30',
  'null.null.null',
  randomBytes(64).toString('base64url'),
])('P1 %j is refused without an exception', async (text) => {
  expect(await verify(text)).toBeNull();
});

test('P1 an error while reading the key is reported as an error, not as a bad token', async () => {
  const token = await signToken({ typ: 'at+jwt', signer, claims });
  const findKey = () => Promise.reject(new Error('the database is gone'));
  const expected = {
    typ: 'at+jwt',
    issuer: claims.iss,
    audience: claims.aud,
    findKey,
    now,
  } as const;
  await expect(verifyToken(token, expected)).rejects.toThrow('the database is gone');
});

test('P1 a verified token is refused after its expiry, without its key or with a changed character', async () => {
  const token = await signToken({ typ: 'at+jwt', signer, claims });
  expect(await verify(token)).toEqual(claims);
  expect(await verify(token)).toEqual(claims);
  expect(await verify(token, new Date(claims.exp * 1000))).toBeNull();
  expect(await verify(token, now, 'rt+jwt')).toBeNull();
  // Not the last character of the signature, because some of its bits do not count.
  const changed = token.at(-10) === 'A' ? 'B' : 'A';
  expect(await verify(`${token.slice(0, -10)}${changed}${token.slice(-9)}`)).toBeNull();
  const elsewhere = {
    typ: 'at+jwt',
    issuer: 'https://other.example',
    audience: claims.aud,
    now,
  } as const;
  const findKey = async (kid: string) => trusted.get(kid) ?? null;
  expect(await verifyToken(token, { ...elsewhere, findKey })).toBeNull();
  expect(
    await verifyToken(token, { ...elsewhere, issuer: claims.iss, findKey: async () => null }),
  ).toBeNull();
});
