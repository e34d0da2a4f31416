import { generateSigningKey, type TokenSigner, type VerificationKey } from '../../../crypto/jwt.ts';
import { Refusal } from '../../../errors.ts';
import { type KeyContext, placeOfPrivateJwk, readyKey, readyKeys } from './key-set.ts';

/** A row for a new signing key, with its private half sealed. */
export async function makeSigningKey(ctx: KeyContext) {
  const { kid, publicJwk, privateJwk } = await generateSigningKey();
  const sealed = ctx.keyring.seal(JSON.stringify(privateJwk), placeOfPrivateJwk(kid));
  return { id: kid, publicJwk, privateJwk: sealed, createdAt: ctx.now };
}

/**
 * The key that signs session tokens now: the oldest that is not retired. Refuses `not_ready` before
 * the first is made.
 */
export async function currentSigner(ctx: KeyContext): Promise<TokenSigner> {
  const current = (await readyKeys(ctx)).findLast(
    ({ retiredAt }) => retiredAt === null || retiredAt > ctx.now,
  );
  if (current === undefined)
    throw new Refusal('not_ready', 'there is no key to sign sessions with yet');
  return current.signer;
}

/**
 * The signer of this key id, retired or not, to sign a token again. Refuses `invalid_credential` if
 * the key is gone.
 */
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
