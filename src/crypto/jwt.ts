import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  decodeProtectedHeader,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { z } from 'zod';

// Session tokens: signed with Ed25519, with a header of only alg, typ and kid. A token can only
// name a trusted key, and has no extension (security P1). RSA keys sign only ID tokens and logout
// tokens.

const alg = 'EdDSA';
const longest = 4096;

// A signature check costs more than the rest of a request, and clients send the same token
// repeatedly. So checked tokens are cached for each key. Every call checks the expiry.
const verified = new WeakMap<VerificationKey, Map<string, TokenClaims>>();
const maxVerified = 1000;

/** Distinguishes session tokens (`at+jwt`) from refresh tokens (`rt+jwt`). */
export type TokenType = 'at+jwt' | 'rt+jwt';

const privateJwkSchema = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  d: z.string(),
});
const sessionJwkSchema = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  alg: z.literal(alg),
  use: z.literal('sig'),
});
const rsaJwkSchema = z.strictObject({
  kty: z.literal('RSA'),
  n: z.string(),
  e: z.string(),
  kid: z.string(),
  alg: z.literal('RS256'),
  use: z.literal('sig'),
});
/** The public half of a signing key, as published in `/.well-known/jwks.json`. */
export const publicJwkSchema = z.discriminatedUnion('kty', [sessionJwkSchema, rsaJwkSchema]);
const headerSchema = z.strictObject({
  alg: z.literal(alg),
  typ: z.enum(['at+jwt', 'rt+jwt']),
  kid: z.string().min(1).max(100),
});
const claimsSchema = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  sub: z.string().min(1),
  sid: z.string().min(1),
  jti: z.string().min(1),
  iat: z.int(),
  exp: z.int(),
});

/** The private half of a signing key. The database stores it sealed. */
export type PrivateJwk = JWK;

/** The public half of an Ed25519 signing key. */
export type PublicJwk = z.output<typeof sessionJwkSchema>;

/** The public half of any signing key. */
export type PublishedJwk = z.output<typeof publicJwkSchema>;

/** The claims of a session token. Times are seconds since 1970. */
export type TokenClaims = z.output<typeof claimsSchema>;

/** An imported signing key. Import it once and reuse it. */
export interface TokenSigner {
  kid: string;
  key: KeyObject;
}

/** An imported public key. Import it once and reuse it. */
export type VerificationKey = CryptoKey;

/** Finds the public key with this id among the trusted keys. */
export type KeyLookup = (kid: string) => Promise<VerificationKey | null>;

/** Generates an Ed25519 key pair. Its id is its RFC 7638 thumbprint. */
export async function generateSigningKey(): Promise<{
  kid: string;
  publicJwk: PublicJwk;
  privateJwk: PrivateJwk;
}> {
  const pair = await generateKeyPair(alg, { crv: 'Ed25519', extractable: true });
  const { kty, crv, x, d } = await exportJWK(pair.privateKey);
  const privateJwk = privateJwkSchema.parse({ kty, crv, x, d });
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: privateJwk.x });
  return {
    kid,
    publicJwk: sessionJwkSchema.parse({ kty, crv, x, kid, alg, use: 'sig' }),
    privateJwk,
  };
}

/** Generates an RSA key pair for ID tokens and logout tokens, like `generateSigningKey`. */
export async function generateRsaKey(): Promise<{
  kid: string;
  publicJwk: PublishedJwk;
  privateJwk: PrivateJwk;
}> {
  const pair = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true });
  const { kty, n, e, ...secret } = await exportJWK(pair.privateKey);
  const kid = await calculateJwkThumbprint({ kty: 'RSA', n: String(n), e: String(e) });
  return {
    kid,
    publicJwk: publicJwkSchema.parse({ kty, n, e, kid, alg: 'RS256', use: 'sig' }),
    privateJwk: { kty: 'RSA', n: String(n), e: String(e), ...secret },
  };
}

/** Imports a stored private key that signs session tokens. */
export function importSigner(kid: string, privateJwk: unknown): TokenSigner {
  const jwk = privateJwkSchema.parse(privateJwk);
  return { kid, key: createPrivateKey({ key: jwk, format: 'jwk' }) };
}

/** Imports a stored public key that verifies session tokens. */
export async function importVerificationKey(publicJwk: unknown): Promise<VerificationKey> {
  const key = await importJWK(sessionJwkSchema.parse(publicJwk), alg);
  if (key instanceof Uint8Array) throw new TypeError('an OKP key was imported as bytes');
  return key;
}

/** Signs a token. The same type, signer and claims give the same bytes. */
export function signToken(token: {
  typ: TokenType;
  signer: TokenSigner;
  claims: TokenClaims;
}): string {
  const { kid, key } = token.signer;
  // The schema also puts the claims into a fixed order.
  const parts = [{ alg, typ: token.typ, kid }, claimsSchema.parse(token.claims)];
  const text = parts.map((part) => encode(JSON.stringify(part))).join('.');
  // Not with jose: it signs on the threads that hash passwords, so a sign-in would wait for them.
  return `${text}.${encode(sign(null, Buffer.from(text), key))}`;
}

/**
 * Signs a logout token (OpenID Connect Back-Channel Logout §2.4), valid for two minutes. Uses the
 * first key for the algorithm.
 */
export async function signLogoutToken(
  keys: JWK[],
  alg: PublishedJwk['alg'],
  {
    now,
    ...claims
  }: { iss: string; aud: string; sub: string; sid: string; jti: string; now: Date },
): Promise<string> {
  const jwk = keys.find((key) => key.alg === alg);
  if (jwk === undefined) throw new Error(`no key signs with ${alg}`);
  const iat = Math.floor(now.getTime() / 1000);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  return new SignJWT({ ...claims, events })
    .setProtectedHeader({ alg, typ: 'logout+jwt', kid: String(jwk.kid) })
    .setIssuedAt(iat)
    .setExpirationTime(iat + 120)
    .sign(await importJWK(jwk, alg));
}

function encode(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString('base64url');
}

/**
 * The claims of a token with the expected type, issuer and audience that was signed by this
 * instance and has not expired. Null for any other token.
 */
export async function verifyToken(
  token: string,
  expected: { typ: TokenType; issuer: string; audience: string; findKey: KeyLookup; now: Date },
): Promise<TokenClaims | null> {
  if (token.length > longest) return null;
  const header = headerOf(token);
  if (header?.typ !== expected.typ) return null;
  const key = await expected.findKey(header.kid);
  if (key === null) return null;
  const seen = verified.get(key)?.get(token);
  if (seen !== undefined) return isCurrent(seen, expected) ? seen : null;
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [alg],
      typ: expected.typ,
      issuer: expected.issuer,
      audience: expected.audience,
      currentDate: expected.now,
    });
    const claims = claimsSchema.safeParse(payload).data;
    if (claims !== undefined) remember(key, token, claims);
    return claims ?? null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function isCurrent(
  claims: TokenClaims,
  expected: { issuer: string; audience: string; now: Date },
): boolean {
  const { iss, aud, exp } = claims;
  const now = Math.floor(expected.now.getTime() / 1000);
  return iss === expected.issuer && aud === expected.audience && exp > now;
}

function remember(key: VerificationKey, token: string, claims: TokenClaims): void {
  const tokens = verified.get(key) ?? new Map<string, TokenClaims>();
  verified.set(key, tokens.set(token, claims));
  const oldest = tokens.keys().next();
  if (tokens.size > maxVerified && !oldest.done) tokens.delete(oldest.value);
}

function headerOf(token: string): z.output<typeof headerSchema> | null {
  try {
    return headerSchema.safeParse(decodeProtectedHeader(token)).data ?? null;
  } catch {
    return null;
  }
}
