import type { JWK } from 'jose';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import {
  generateRsaKey,
  generateSigningKey,
  importSigner,
  importVerificationKey,
  type PublishedJwk,
  publicJwkSchema,
  type TokenSigner,
  type VerificationKey,
} from '../../../crypto/jwt.ts';
import type { Keyring, SealedColumn } from '../../../crypto/seal.ts';
import { Client } from '../../../database/models/client.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';

// A process caches the keys. It reads them again after a minute, to follow a rotation. It also
// reads them for an unknown key id, to verify a token that another daemon has just signed. Invented
// key ids cost at most one query every few seconds.
const minute = 60_000;
const fewSeconds = 5_000;

/** Seconds until a new key signs: twice as long as a daemon caches the keys. */
export const noticeSeconds = 120;

interface ReadyKey {
  publicJwk: PublishedJwk;
  privateJwk: JWK;
  /** Signs and verifies session tokens; null for an RSA key, which signs only ID tokens. */
  session: { verifier: VerificationKey; signer: TokenSigner } | null;
  /** When the key stops signing and only verifies; may be in the future. */
  retiredAt: Date | null;
}

/** The part of a context that reads keys. The app reads them before a full context exists. */
export type KeyContext = Pick<Context, 'keyring' | 'now'>;

interface KeySet {
  readAt: number;
  /** The keys by id, the newest first. */
  keys: Map<string, ReadyKey>;
}

// There is one cached key set per keyring.
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

/** Drops the cached keys, so that the next call reads them from the database. */
export function forgetKeys(ctx: KeyContext): void {
  sets.delete(ctx.keyring);
}

/** The place where the private half of a key is sealed. */
export function columnOfPrivateJwk(kid: string): SealedColumn {
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
  const privateJwk: JWK = JSON.parse(ctx.keyring.open(row.privateJwk, columnOfPrivateJwk(row.id)));
  const session = isRsa(publicJwk)
    ? null
    : {
        verifier: await importVerificationKey(publicJwk),
        signer: importSigner(row.id, privateJwk),
      };
  return { publicJwk, privateJwk, session, retiredAt: row.retiredAt };
}

/** Whether the key signs only ID tokens. */
export function isRsa(publicJwk: { kty?: unknown }): boolean {
  return publicJwk.kty === 'RSA';
}

/** The published key set (RFC 7517 §5). */
export const jwksView = z.strictObject({ keys: z.array(publicJwkSchema) });

/**
 * The public keys that verify this instance's tokens, for anyone. The keys are only seconds old,
 * because another daemon may have created the first RSA key just now. Once there is a client, they
 * include an RSA key: the discovery document names RS256, and applications keep the keys.
 */
export async function viewJwks(ctx: KeyContext): Promise<z.output<typeof jwksView>> {
  const set = await readSet(ctx);
  if (since(set.readAt, ctx) > fewSeconds) forgetKeys(ctx);
  const { keys } = await readSet(ctx);
  const hasRsa = [...keys.values()].some((key) => isRsa(key.publicJwk));
  if (!hasRsa && (await Client.findOne({ attributes: ['id'] })) !== null) await addRsaKey(ctx);
  return { keys: (await readyKeys(ctx)).map((key) => key.publicJwk) };
}

/**
 * The private keys for ID tokens. For each algorithm, the key that signs now comes first; the
 * others wait, or verify earlier ID tokens. Creates an RSA key if none can sign.
 */
export async function keysOfIdTokens(ctx: KeyContext): Promise<JWK[]> {
  const signs = ({ retiredAt }: ReadyKey) => retiredAt === null || retiredAt > ctx.now;
  let keys = await readyKeys(ctx);
  if (!keys.some((key) => isRsa(key.publicJwk) && signs(key))) {
    await addRsaKey(ctx);
    keys = await readyKeys(ctx);
  }
  const oldestFirst = keys.toReversed();
  const ordered = [...oldestFirst.filter(signs), ...keys.filter((key) => !signs(key))];
  return ordered.map(({ publicJwk, privateJwk }) => ({ ...privateJwk, ...publicJwk }));
}

/**
 * Adds an RSA key. If two daemons add one at the same time, both keys are published and the older
 * one signs.
 */
async function addRsaKey(ctx: KeyContext): Promise<void> {
  const made = await createSigningKey(ctx, generateRsaKey);
  await transaction(async () => {
    const current = await SigningKey.findAll({ where: { retiredAt: null } });
    if (!current.some(({ publicJwk }) => isRsa(publicJwk))) await SigningKey.create(made);
  });
  forgetKeys(ctx);
}

/** A row for a new signing key, with its private half sealed. */
export async function createSigningKey(
  ctx: KeyContext,
  generate: typeof generateRsaKey = generateSigningKey,
) {
  const { kid, publicJwk, privateJwk } = await generate();
  const sealed = ctx.keyring.seal(JSON.stringify(privateJwk), columnOfPrivateJwk(kid));
  return { id: kid, publicJwk, privateJwk: sealed, createdAt: ctx.now };
}

/**
 * The key that signs now: the oldest that is not retired. Refuses with `not_ready` if there is
 * none.
 */
export async function currentSigner(ctx: KeyContext): Promise<TokenSigner> {
  const current = (await readyKeys(ctx)).findLast(
    ({ session, retiredAt }) => session !== null && (retiredAt === null || retiredAt > ctx.now),
  );
  if (!current?.session) throw new Refusal('not_ready', 'There is no signing key yet.');
  return current.session.signer;
}

/**
 * The signer of this key id, retired or not. Refuses with `invalid_credential` if the key is gone.
 */
export async function requireSigner(ctx: KeyContext, kid: string): Promise<TokenSigner> {
  const key = await readyKey(ctx, kid);
  if (!key?.session)
    throw new Refusal('invalid_credential', 'The key that signed this session was removed.');
  return key.session.signer;
}

/** The public key of this id if session tokens are or were signed with it, else null. */
export async function findVerificationKey(
  ctx: KeyContext,
  kid: string,
): Promise<VerificationKey | null> {
  return (await readyKey(ctx, kid))?.session?.verifier ?? null;
}
