import { z } from 'zod';
import type { Context } from '../../../context.ts';
import {
  importSigner,
  importVerificationKey,
  type PublicJwk,
  publicJwkSchema,
  type TokenSigner,
  type VerificationKey,
} from '../../../crypto/jwt.ts';
import type { Keyring, SealedPlace } from '../../../crypto/seal.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';

// A process keeps the keys it has read. It reads them again after a minute, so that it follows a
// rotation, and for a key id it does not know, so that it verifies what another daemon has just
// signed; made-up key ids cost one query in a few seconds.
const minute = 60_000;
const fewSeconds = 5_000;

/** Until a new key signs, in seconds: twice as long as a daemon may go without reading the keys again. */
export const noticeSeconds = 120;

/** One signing key of the database, ready for use. */
export interface ReadyKey {
  publicJwk: PublicJwk;
  verifier: VerificationKey;
  signer: TokenSigner;
  /** From when on it only verifies; it may lie ahead. */
  retiredAt: Date | null;
}

/** What reading the keys needs of a context; the app has it before there is one. */
export type KeyContext = Pick<Context, 'keyring' | 'now'>;

interface KeySet {
  readAt: number;
  /** By id, the newest first. */
  keys: Map<string, ReadyKey>;
}

// By master key, which is one a process.
const sets = new WeakMap<Keyring, Promise<KeySet>>();
const missedAt = new WeakMap<Keyring, number>();

/** The keys of the database, as of the last minute, the newest first. */
export async function readyKeys(ctx: KeyContext): Promise<ReadyKey[]> {
  return [...(await readSet(ctx)).keys.values()];
}

/** The key of this id, or null; an unknown one is looked for in the database, at most every few seconds. */
export async function readyKey(ctx: KeyContext, kid: string): Promise<ReadyKey | null> {
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

/** Where the private half of a key is sealed. */
export function placeOfPrivateJwk(kid: string): SealedPlace {
  return { table: 'signing_keys', column: 'private_jwk', row: kid };
}

async function readSet(ctx: KeyContext): Promise<KeySet> {
  const before = sets.get(ctx.keyring);
  if (before !== undefined) {
    const set = await before;
    if (since(set.readAt, ctx) < minute) return set;
  }
  // While this one looked, another may have begun to read: then one query serves both.
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

async function readAll(ctx: KeyContext): Promise<KeySet> {
  const rows = await SigningKey.findAll({
    order: [
      ['createdAt', 'DESC'],
      ['id', 'DESC'],
    ],
  });
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
    signer: await importSigner(row.id, privateJwk),
    retiredAt: row.retiredAt,
  };
}

/** RFC 7517 §5. */
export const jwksView = z.strictObject({ keys: z.array(publicJwkSchema) });

/** The public keys that check this instance's tokens, for anyone. */
export async function viewJwks(ctx: KeyContext): Promise<z.output<typeof jwksView>> {
  return { keys: (await readyKeys(ctx)).map((key) => key.publicJwk) };
}
