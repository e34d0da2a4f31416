import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { generateRsaKey } from '../../../crypto/jwt.ts';
import { newMasterKey, readKeyFile, replaceKeyFile } from '../../../crypto/key-file.ts';
import { createKeyring, idOfMasterKey } from '../../../crypto/seal.ts';
import { hold } from '../../../database/hold.ts';
import { KeyCanary } from '../../../database/models/key-canary.ts';
import type { SamlKey } from '../../../database/models/saml-key.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../events/record.ts';
import { instant } from '../fields.ts';
import { operation } from '../operation.ts';
import { pageInput, pageOf } from '../page.ts';
import { after, sessionSeconds } from '../time.ts';
import { followMasterKey, listCanaries, plantCanary, usedKeyIds } from './open.ts';
import { isAnythingFormer, reseal } from './reseal.ts';
import { isCurrent, listSamlKeys } from './saml-key.ts';
import {
  createSigningKey,
  forgetKeys,
  isRsa,
  listSigningKeys,
  noticeSeconds,
} from './signing-key.ts';

// The master keys and the session signing keys (security X1, X2).

export const keyView = z.object({
  id: z.string(),
  purpose: z.enum(['master', 'signing', 'saml-signing', 'saml-encryption']),
  /**
   * A master key seals, and later only opens. A signing key waits until every daemon knows it, and
   * then signs. After that it only verifies, until its last token has expired. Keys for SAML
   * providers sign, or decrypt.
   */
  state: z.enum(['seals', 'opens', 'waits', 'signs', 'verifies', 'decrypts', 'retired']),
  createdAt: instant,
  retiredAt: instant.nullable(),
});
const keyPage = pageOf(keyView);
export const newKeyView = keyView.extend({ signsFrom: instant });

/**
 * The result of a rotation. `prepared`: the new key only waits in the key file. `finished`: an
 * interrupted rotation is complete, and there is no new key.
 */
export const newMasterKeyView = z.object({
  id: z.string(),
  state: z.enum(['rotated', 'prepared', 'finished']),
  former: z.string().nullable(),
  resealed: z.int(),
});

/** The plan of a rotation. It does not name the new key. */
export const foreseenKeyView = newMasterKeyView
  .pick({ state: true, former: true })
  .extend({ leaving: z.array(z.string()) });

const rotationInput = z.strictObject({ prepare: z.boolean().default(false) });

/** A signing key with its state, without its public and private part. */
function viewSigningKey(key: SigningKey, state: 'waits' | 'signs' | 'verifies') {
  return {
    id: key.id,
    purpose: 'signing' as const,
    state,
    createdAt: key.createdAt.toISOString(),
    retiredAt: key.retiredAt?.toISOString() ?? null,
  };
}

/** A master key, known to the database only by its id. It seals, or only opens. */
function viewMasterKey({ keyId, createdAt }: KeyCanary, state: 'seals' | 'opens') {
  return {
    id: keyId,
    purpose: 'master' as const,
    state,
    createdAt: createdAt.toISOString(),
    retiredAt: null,
  };
}

/** The keys for SAML providers. Of those that sign, the oldest that is not retired signs now. */
async function viewSamlKeys(ctx: Context) {
  const keys = await listSamlKeys();
  const signer = keys.find((key) => key.use === 'signing' && isCurrent(key, ctx));
  const stateOf = (key: SamlKey) => {
    if (key.use === 'encryption') return 'decrypts' as const;
    if (!isCurrent(key, ctx)) return 'retired' as const;
    return key === signer ? ('signs' as const) : ('waits' as const);
  };
  return keys.map((key) => ({
    id: key.id,
    purpose: `saml-${key.use}` as const,
    state: stateOf(key),
    createdAt: key.createdAt.toISOString(),
    retiredAt: key.retiredAt?.toISOString() ?? null,
  }));
}

/** Lists the master keys, the signing keys and the keys for SAML providers, oldest first. */
export const listKeys = operation({
  authority: 'operator',
  input: z.strictObject(pageInput),
  output: keyPage,
  run: async (ctx) => {
    const [current, ...former] = await listCanaries();
    const masters = [
      ...former.map((canary) => viewMasterKey(canary, 'opens')),
      ...(current === undefined ? [] : [viewMasterKey(current, 'seals')]),
    ];
    const keys = (await listSigningKeys()).reverse();
    const isRetired = ({ retiredAt }: SigningKey) => retiredAt !== null && retiredAt <= ctx.now;
    const signs = (key: SigningKey) =>
      key ===
      keys.find((other) => !isRetired(other) && isRsa(other.publicJwk) === isRsa(key.publicJwk));
    const signing = keys.map((key) =>
      viewSigningKey(key, isRetired(key) ? 'verifies' : signs(key) ? 'signs' : 'waits'),
    );
    const items = [...masters, ...signing, ...(await viewSamlKeys(ctx))];
    return { items, nextCursor: null };
  },
});

/**
 * Whether the next rotation of the master key creates a key or finishes an interrupted rotation.
 * `leaving` are the former keys that the rotation removes from the key file. A backup created under
 * a former key needs a copy of that key.
 */
export const foreseeMasterKey = operation({
  authority: 'operator',
  input: rotationInput,
  output: foreseenKeyView,
  run: async (ctx, { prepare }) => {
    if (await isAnythingFormer(ctx))
      return { state: 'finished' as const, former: null, leaving: [] };
    const former = ctx.keyring.keyId;
    const used = await usedKeyIds();
    const ids = (await readKeyFile(ctx.config.keyFile)).map(idOfMasterKey);
    const leaving = ids.filter((id) => id !== former && used.has(id));
    return { state: prepare ? ('prepared' as const) : ('rotated' as const), former, leaving };
  },
});

/**
 * Creates a new session signing key (security X2). It signs once every daemon has had time to read
 * it. Until then the old key signs, and afterwards it still verifies. Every session continues.
 */
export const rotateSigningKey = operation({
  authority: 'operator',
  input: z.strictObject({}),
  output: newKeyView,
  run: async (ctx) => {
    const made = await createSigningKey(ctx);
    // Only an instance whose OpenID provider was used has an RSA key.
    const hasRsa = (await listSigningKeys()).some(({ publicJwk }) => isRsa(publicJwk));
    const rsa = hasRsa ? await createSigningKey(ctx, generateRsaKey) : null;
    const signsFrom = after(ctx.now, noticeSeconds);
    const key = await transaction(async () => {
      const [retired] = await SigningKey.update(
        { retiredAt: signsFrom },
        { where: { retiredAt: null } },
      );
      const created = await SigningKey.create(made);
      if (rsa !== null) await SigningKey.create(rsa);
      await recordEvent(ctx, {
        kind: 'key.signing.rotated',
        subject: { type: 'key', id: made.id },
        data: { signsFrom: signsFrom.toISOString(), retired },
      });
      return created;
    });
    forgetKeys(ctx);
    return { ...viewSigningKey(key, 'waits'), signsFrom: signsFrom.toISOString() };
  },
});

/**
 * Deletes retired keys once no live session has a token signed with them (security X2). An
 * application may send an ID token as long as the session lives. Call it inside a transaction.
 */
export async function dropSpentKeys(ctx: Context): Promise<void> {
  const before = after(ctx.now, -sessionSeconds - noticeSeconds);
  for (const key of await SigningKey.findAll({ where: { retiredAt: { [Op.lt]: before } } })) {
    await key.destroy();
    await recordEvent(ctx, { kind: 'key.signing.dropped', subject: { type: 'key', id: key.id } });
  }
}

// The key file gets the new key before the database does, and keeps the old key. So a rotation can
// be interrupted anywhere, and everything still opens. Running daemons read the file again when
// they find the new key, and switch within seconds. The sweep re-seals values that a daemon sealed
// with the old key in the meantime.

/**
 * Replaces the master key that seals (security X1), or finishes an interrupted rotation. With
 * `prepare` the new key only waits in the key file, to be copied to other hosts first.
 */
export const rotateMasterKey = operation({
  authority: 'operator',
  input: rotationInput,
  output: newMasterKeyView,
  run: async (ctx, { prepare }) => {
    const { id, state, former } = await transaction(async () => {
      // A second rotation would also replace the key file.
      await hold.table('key_canaries', 'EXCLUSIVE');
      await followMasterKey(ctx);
      if (await isAnythingFormer(ctx))
        return { id: ctx.keyring.keyId, state: 'finished' as const, former: null };
      return takeNewKey(ctx, prepare);
    });
    await followMasterKey(ctx);
    return { id, state, former, resealed: await reseal(ctx) };
  },
});

async function takeNewKey(ctx: Context, prepare: boolean) {
  const { keyFile } = ctx.config;
  const former = ctx.keyring.keyId;
  const keys = await readKeyFile(keyFile);
  const current = keys.find((key) => idOfMasterKey(key) === former);
  if (current === undefined)
    throw new Refusal(
      'key_invalid',
      `The key file ${keyFile} lacks the master key that seals now (${former}).`,
      { hint: 'Put this key back into the file, then run the command again.' },
    );
  const key = (await findUnused(keys)) ?? newMasterKey();
  const id = idOfMasterKey(key);
  await replaceKeyFile(keyFile, prepare ? [current, key] : [key, current]);
  if (prepare) return { id, state: 'prepared' as const, former };
  // No value is sealed by the earlier keys any more.
  await KeyCanary.destroy({ where: { keyId: { [Op.ne]: former } } });
  await plantCanary(createKeyring(key), ctx.now);
  await recordEvent(ctx, {
    kind: 'key.master.rotated',
    subject: { type: 'key', id },
    data: { former },
  });
  return { id, state: 'rotated' as const, former };
}

/** A prepared key, or one left by a rotation that was interrupted before it took effect. */
async function findUnused(keys: Buffer[]): Promise<Buffer | undefined> {
  const used = await usedKeyIds();
  return keys.find((key) => !used.has(idOfMasterKey(key)));
}
