import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Keyring, SealedColumn } from '../../../crypto/seal.ts';
import { SamlKey } from '../../../database/models/saml-key.ts';
import { transaction } from '../../../database/transaction.ts';
import type { SamlSigner } from '../../../outbound/saml/saml.ts';
import { recordEvent } from '../events/record.ts';
import { instant } from '../fields.ts';
import { operation } from '../operation.ts';
import { after } from '../time.ts';
import type { KeyContext } from './signing-key.ts';

// The instance's keys for SAML providers (security S11): one signs requests, one decrypts assertions.
// They are created when a provider first needs our metadata. Providers know them by their
// certificates, and many learn a new one only if an admin enters it. So a rotation takes weeks.

const uses = ['signing', 'encryption'] as const;

/** How long our metadata names the old key and the new one. */
const overlapDays = 30;
const overlapSeconds = overlapDays * 86_400;

/** All keys, the oldest first. Creates a pair if there is none. */
async function samlKeys(ctx: KeyContext): Promise<SamlKey[]> {
  if (!(await hasCurrent(ctx))) await createOnce(ctx);
  return listSamlKeys();
}

// Strangers can ask for our metadata, and creating a pair takes a second: callers share it.
const creating = new WeakMap<Keyring, Promise<void>>();

function createOnce(ctx: KeyContext): Promise<void> {
  const begun = creating.get(ctx.keyring);
  if (begun !== undefined) return begun;
  const created = createFirst(ctx).finally(() => creating.delete(ctx.keyring));
  creating.set(ctx.keyring, created);
  return created;
}

async function createFirst(ctx: KeyContext): Promise<void> {
  const made = await createPair(ctx);
  await transaction(async () => {
    // Another daemon may have created a pair at the same time.
    if (await hasCurrent(ctx)) return;
    for (const key of made) await SamlKey.create(key);
  });
}

async function hasCurrent(ctx: KeyContext): Promise<boolean> {
  const current = (await listSamlKeys()).filter((key) => isCurrent(key, ctx));
  return uses.every((use) => current.some((key) => key.use === use));
}

/** The rows of the keys, the oldest first. */
export function listSamlKeys(): Promise<SamlKey[]> {
  const order: [string, string][] = [
    ['createdAt', 'ASC'],
    ['id', 'ASC'],
  ];
  return SamlKey.findAll({ order });
}

/** Whether our metadata has the key. */
export function isCurrent({ retiredAt }: SamlKey, { now }: Pick<Context, 'now'>): boolean {
  return retiredAt === null || retiredAt > now;
}

async function createPair(ctx: KeyContext) {
  // Loaded only here: most instances never create such a key.
  const { generateCertifiedKey } = await import('../../../crypto/certificate.ts');
  return Promise.all(
    uses.map(async (use) => {
      const { privateKey, certificate } = await generateCertifiedKey(`idctl SAML ${use}`, ctx.now);
      const id = new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase();
      const sealed = ctx.keyring.seal(privateKey, columnOf(id));
      return { id, use, certificate, privateKey: sealed, createdAt: ctx.now };
    }),
  );
}

function columnOf(row: string): SealedColumn {
  return { table: 'saml_keys', column: 'private_key', row };
}

function opened({ keyring }: KeyContext, { id, privateKey }: SamlKey): KeyObject {
  return createPrivateKey(keyring.open(privateKey, columnOf(id)));
}

/** The key that signs requests now: the oldest that our metadata has. */
export async function samlSigner(ctx: KeyContext): Promise<SamlSigner> {
  const keys = await samlKeys(ctx);
  const key = keys.find((one) => one.use === 'signing' && isCurrent(one, ctx));
  if (key === undefined) throw new Error('A SAML key was deleted while it was read.');
  return { privateKey: opened(ctx, key), certificate: key.certificate };
}

/** The certificates for our metadata, as PEM. During a rotation there are two of each. */
export async function samlCertificates(
  ctx: KeyContext,
): Promise<Record<(typeof uses)[number], string[]>> {
  const keys = (await samlKeys(ctx)).filter((key) => isCurrent(key, ctx));
  const of = (use: string) =>
    keys.filter((key) => key.use === use).map(({ certificate }) => certificate);
  // A provider that reads one certificate of each use then has the one that signs now, and the key
  // that decrypts for the longest time.
  return { signing: of('signing'), encryption: of('encryption').reverse() };
}

/** The keys that decrypt assertions, the newest first. Retired ones still decrypt for a while. */
export async function samlDecryptionKeys(ctx: KeyContext): Promise<KeyObject[]> {
  const keys = (await samlKeys(ctx)).filter(({ use }) => use === 'encryption');
  return keys.reverse().map((key) => opened(ctx, key));
}

export const newSamlKeysView = z.object({
  signing: z.string(),
  encryption: z.string(),
  signsFrom: instant,
});

/**
 * Creates new keys for SAML providers. For 30 days our metadata names the old ones too, and the old
 * one signs. With `immediately`, the new key signs now, and the old ones leave our metadata.
 */
export const rotateSamlKeys = operation({
  authority: 'operator',
  input: z.strictObject({ immediately: z.boolean().default(false) }),
  output: newSamlKeysView,
  run: async (ctx, { immediately }) => {
    const made = await createPair(ctx);
    const idOf = (use: string) => made.find((key) => key.use === use)?.id ?? '';
    const view = { signing: idOf('signing'), encryption: idOf('encryption') };
    return transaction(async () => {
      const present = (await listSamlKeys()).filter((key) => isCurrent(key, ctx));
      const isFirst = !present.some(({ use }) => use === 'signing');
      const signsFrom = immediately || isFirst ? ctx.now : after(ctx.now, overlapSeconds);
      const retiring = present.filter(
        ({ retiredAt }) => retiredAt === null || retiredAt > signsFrom,
      );
      for (const key of retiring) await key.update({ retiredAt: signsFrom });
      for (const key of made) await SamlKey.create(key);
      await recordEvent(ctx, {
        kind: 'key.saml.rotated',
        subject: { type: 'key', id: view.signing },
        data: { signsFrom: signsFrom.toISOString(), retired: retiring.length },
      });
      return { ...view, signsFrom: signsFrom.toISOString() };
    });
  },
});

/**
 * Deletes keys that were retired for 30 days: providers that read our metadata since then do not
 * encrypt for them any more. Call it inside a transaction.
 */
export async function dropRetiredSamlKeys(ctx: Context): Promise<void> {
  const before = after(ctx.now, -overlapSeconds);
  for (const key of await listSamlKeys()) {
    if (key.retiredAt === null || key.retiredAt > before) continue;
    await key.destroy();
    await recordEvent(ctx, { kind: 'key.saml.dropped', subject: { type: 'key', id: key.id } });
  }
}
