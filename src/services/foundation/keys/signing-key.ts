import { z } from 'zod';
import type { Context } from '../../../context.ts';
import {
  generateSigningKey,
  importSigner,
  importVerificationKey,
  type PublicJwk,
  publicJwkSchema,
  type TokenSigner,
  type VerificationKey,
} from '../../../crypto/jwt.ts';
import type { Keyring, SealedPlace } from '../../../crypto/seal.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { Refusal } from '../../../errors.ts';

// A process caches the keys. It reads them again after a minute, to follow a rotation. It also
// reads them for an unknown key id, to verify what another daemon has just signed. Invented key ids
// cost one query in a few seconds.
const minute = 60_000;
const fewSeconds = 5_000;

/** Seconds until a new key signs: twice as long as a daemon may use the keys that it has read. */
export const noticeSeconds = 120;

interface ReadyKey {
  publicJwk: PublicJwk;
  verifier: VerificationKey;
  signer: TokenSigner;
  /** From then on it only verifies; may be in the future. */
  retiredAt: Date | null;
}

/** The context needed to read the keys. The app has it before it has a full context. */
export type KeyContext = Pick<Context, 'keyring' | 'now'>;

interface KeySet {
  readAt: number;
  /** By id, the newest first. */
  keys: Map<string, ReadyKey>;
}

// One cached key set per keyring.
const sets = new WeakMap<Keyring, Promise<KeySet>>();
const missedAt = new WeakMap<Keyring, number>();

/** The keys of the database, at most a minute old, the newest first. */
async function readyKeys(ctx: KeyContext): Promise<ReadyKey[]> {
  return [...(await readSet(ctx)).keys.values()];
}

/** The key of this id, or null. An unknown id is looked up every few seconds at most. */
async function readyKey(ctx: KeyContext, kid: string): Promise<ReadyKey | null> {
  const known = (await readSet(ctx)).keys.get(kid);
  if (known !== undefined || since(missedAt.get(ctx.keyring), ctx) < fewSeconds)
    return known ?? null;
  missedAt.set(ctx.keyring, ctx.now.getTime());
  forgetKeys(ctx);
  return (await readSet(ctx)).keys.get(kid) ?? null;
}

/** Makes the next reader ask the database. */
export function forgetKeys(ctx: KeyContext): void {
  sets.delete(ctx.keyring);
}

/** The place where the private half of a key is sealed. */
export function placeOfPrivateJwk(kid: string): SealedPlace {
  return { table: 'signing_keys', column: 'private_jwk', row: kid };
}

async function readSet(ctx: KeyContext): Promise<KeySet> {
  const before = sets.get(ctx.keyring);
  if (before !== undefined) {
    const set = await before;
    if (since(set.readAt, ctx) < minute) return set;
  }
  // Another caller may have begun to read in between; then share its query.
  const begun = sets.get(ctx.keyring);
  if (begun !== undefined && begun !== before) return begun;
  const reading = readAll(ctx);
  sets.set(ctx.keyring, reading);
  reading.catch(() => forgetKeys(ctx));
  return reading;
}

function since(instant: number | undefined, ctx: KeyContext): number {
  return instant === undefined ? Number.POSITIVE_INFINITY : Math.abs(ctx.now.getTime() - instant);
}

/** The rows of the signing keys, the newest first. */
export function listSigningKeys(): Promise<SigningKey[]> {
  const order: [string, string][] = [
    ['createdAt', 'DESC'],
    ['id', 'DESC'],
  ];
  return SigningKey.findAll({ order });
}

async function readAll(ctx: KeyContext): Promise<KeySet> {
  const rows = await listSigningKeys();
  const keys = new Map<string, ReadyKey>();
  for (const row of rows) keys.set(row.id, await prepare(ctx, row));
  return { readAt: ctx.now.getTime(), keys };
}

async function prepare(ctx: KeyContext, row: SigningKey): Promise<ReadyKey> {
  const publicJwk = publicJwkSchema.parse(row.publicJwk);
  const privateJwk: unknown = JSON.parse(
    ctx.keyring.open(row.privateJwk, placeOfPrivateJwk(row.id)),
  );
  return {
    publicJwk,
    verifier: await importVerificationKey(publicJwk),
    signer: importSigner(row.id, privateJwk),
    retiredAt: row.retiredAt,
  };
}

/** RFC 7517 §5. */
export const jwksView = z.strictObject({ keys: z.array(publicJwkSchema) });

/** The public keys that verify this instance's tokens, for anyone. */
export async function viewJwks(ctx: KeyContext): Promise<z.output<typeof jwksView>> {
  return { keys: (await readyKeys(ctx)).map((key) => key.publicJwk) };
}

/** A row for a new signing key, with its private half sealed. */
export async function makeSigningKey(ctx: KeyContext) {
  const { kid, publicJwk, privateJwk } = await generateSigningKey();
  const sealed = ctx.keyring.seal(JSON.stringify(privateJwk), placeOfPrivateJwk(kid));
  return { id: kid, publicJwk, privateJwk: sealed, createdAt: ctx.now };
}

/** The key that signs now: the oldest that is not retired. Refuses `not_ready` if there is none. */
export async function currentSigner(ctx: KeyContext): Promise<TokenSigner> {
  const current = (await readyKeys(ctx)).findLast(
    ({ retiredAt }) => retiredAt === null || retiredAt > ctx.now,
  );
  if (current === undefined)
    throw new Refusal('not_ready', 'there is no key to sign sessions with yet');
  return current.signer;
}

/** The signer of this key id, retired or not. Refuses `invalid_credential` if the key is gone. */
export async function requireSigner(ctx: KeyContext, kid: string): Promise<TokenSigner> {
  const key = await readyKey(ctx, kid);
  if (key === null)
    throw new Refusal('invalid_credential', 'the key that signed this session is gone');
  return key.signer;
}

/** The public key of this id if this instance signs or signed with it, else null. */
export async function findVerificationKey(
  ctx: KeyContext,
  kid: string,
): Promise<VerificationKey | null> {
  return (await readyKey(ctx, kid))?.verifier ?? null;
}
