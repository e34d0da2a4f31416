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

// Session tokens: Ed25519, and a header of alg, typ and kid only. The sender can never choose a key
// or an extension (security P1). The RSA keys sign ID tokens alone, and no session token.

const alg = 'EdDSA';
const longest = 4096;

// A signature check costs more than the rest of a request, and clients repeat their token. So a
// checked signature, over exactly these bytes, is cached for each key. Times are checked on every
// call.
const verified = new WeakMap<VerificationKey, Map<string, TokenClaims>>();
const mostVerified = 1000;

/** The type separates access tokens from refresh tokens. */
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
/** The public half of a signing key, as `/.well-known/jwks.json` shows it. */
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

/** The private half of a signing key, as it is sealed in the database. */
export type PrivateJwk = JWK;

/** The public half of a key that signs session tokens. */
export type PublicJwk = z.output<typeof sessionJwkSchema>;

/** The public half of any signing key. */
export type PublishedJwk = z.output<typeof publicJwkSchema>;

/** The claims of a session token; times in seconds since 1970. */
export type TokenClaims = z.output<typeof claimsSchema>;

/** A signing key, imported and ready. Import it once and keep it. */
export interface TokenSigner {
  kid: string;
  key: KeyObject;
}

/** A public key, imported and ready. Import it once and keep it. */
export type VerificationKey = CryptoKey;

/** Finds the public key with this id among the trusted keys. */
export type KeyLookup = (kid: string) => Promise<VerificationKey | null>;

/** Makes an Ed25519 key pair. Its id is its RFC 7638 thumbprint. */
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

/** Makes an RSA key pair for ID tokens, like `generateSigningKey`. */
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

/** Makes a signer of session tokens from a stored private key. */
export function importSigner(kid: string, privateJwk: unknown): TokenSigner {
  const jwk = privateJwkSchema.parse(privateJwk);
  return { kid, key: createPrivateKey({ key: jwk, format: 'jwk' }) };
}

/** Makes a verification key of session tokens from a stored public key. */
export async function importVerificationKey(publicJwk: unknown): Promise<VerificationKey> {
  const key = await importJWK(sessionJwkSchema.parse(publicJwk), alg);
  if (key instanceof Uint8Array) throw new TypeError('an OKP key was imported as bytes');
  return key;
}

/** Signs a token. The same signer and claims give the same bytes. */
export function signToken(token: {
  typ: TokenType;
  signer: TokenSigner;
  claims: TokenClaims;
}): string {
  const { kid, key } = token.signer;
  // The schema also puts the claims in a fixed order, whatever the caller's.
  const parts = [{ alg, typ: token.typ, kid }, claimsSchema.parse(token.claims)];
  const text = parts.map((part) => encode(JSON.stringify(part))).join('.');
  // Not jose: it signs on the threads that hash passwords, where a sign-in would wait for them.
  return `${text}.${encode(sign(null, Buffer.from(text), key))}`;
}

/**
 * Signs the token that tells a client of a sign-out (OpenID Connect Back-Channel Logout §2.4), with
 * the first of these keys for the algorithm. It is valid for two minutes.
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
  if (jwk === undefined) throw new Error(`no key signs by ${alg}`);
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
 * The claims of a token of this type that this instance signed and that is unexpired at `now`, else
 * null.
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
  if (tokens.size > mostVerified && !oldest.done) tokens.delete(oldest.value);
}

function headerOf(token: string): z.output<typeof headerSchema> | null {
  try {
    return headerSchema.safeParse(decodeProtectedHeader(token)).data ?? null;
  } catch {
    return null;
  }
}
