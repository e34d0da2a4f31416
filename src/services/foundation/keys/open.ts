import type { Context } from '../../../context.ts';
import type { Keyring, SealedColumn } from '../../../crypto/seal.ts';
import { hold } from '../../../database/hold.ts';
import { KeyCanary } from '../../../database/models/key-canary.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import type { KeyContext } from './signing-key.ts';

// Checks the keys when the app opens, and follows later rotations. Imports nothing heavy: every
// command opens the app.

const constant = 'idctl';

/**
 * Checks that the master key belongs to this database, and seals with it. An empty database adopts
 * the key. Refuses with `key_invalid`, naming the key file, for any other key (security X3).
 */
export async function requireRightKey(key: {
  keyring: Keyring;
  keyFile: string;
  now: Date;
}): Promise<void> {
  if (!(await isSealed())) await sealCanary(key.keyring, key.now);
  const canaries = await listCanaries();
  const [canary] = canaries;
  if (canary === undefined || !key.keyring.sealWith(canary.keyId)) {
    const others = canaries.map((other) => other.keyId).join(', ') || 'unknown';
    throw new Refusal(
      'key_invalid',
      `The master key ${key.keyFile} (${key.keyring.keyId}) is not the key of this database (${others}).`,
      {
        hint: {
          technical: `Put the database's own key file at ${key.keyFile}, or set keyFile to its path.`,
        },
      },
    );
  }
  if (key.keyring.open(canary.sealed, columnOf(canary.keyId)) !== constant) {
    throw new Refusal(
      'key_invalid',
      `The master key ${key.keyFile} does not open its test value in the database.`,
      { hint: 'Restore the database and its key file from the same backup.' },
    );
  }
}

/** The test values of this database's master keys; that of the current key comes first. */
export function listCanaries(): Promise<KeyCanary[]> {
  return KeyCanary.findAll({ order: [['createdAt', 'DESC']] });
}

/** The ids of the current and the former master key, without a key that waits in the file. */
export async function usedKeyIds(): Promise<Set<string>> {
  return new Set((await listCanaries()).map(({ keyId }) => keyId));
}

async function sealCanary(keyring: Keyring, now: Date): Promise<void> {
  await transaction(async () => {
    // Two daemons on one empty database may have different keys.
    await hold.table('key_canaries', 'SHARE ROW EXCLUSIVE');
    if (!(await isSealed())) await plantCanary(keyring, now);
  });
}

/** Makes this master key the database's current one. Call it inside a transaction. */
export async function plantCanary(keyring: Keyring, now: Date): Promise<void> {
  const { keyId } = keyring;
  // A restored database may already have the row of this key.
  const row = { keyId, sealed: keyring.seal(constant, columnOf(keyId)), createdAt: now };
  await KeyCanary.bulkCreate([row], { ignoreDuplicates: true });
}

/** Whether a key has sealed a value here. If so, no other key may be adopted (security X3). */
async function isSealed(): Promise<boolean> {
  return (await KeyCanary.count()) > 0 || (await SigningKey.count()) > 0;
}

function columnOf(row: string): SealedColumn {
  return { table: 'key_canaries', column: 'sealed', row };
}

/** Switches to the database's master key, which another process may have created (security X1). */
export async function followMasterKey(ctx: Context): Promise<void> {
  const missing = await findMissingKey(ctx);
  if (missing === null) return;
  const { keyFile } = ctx.config;
  const reason = `the key ${missing} is missing`;
  ctx.log.error({ file: keyFile, reason }, 'the key file lacks the master key of this database');
}

/**
 * Refuses with `not_ready` if this process lacks the master key that seals now. The refusal gives
 * no details, because the caller may be a stranger.
 */
export async function requireMasterKey(ctx: Pick<Context, 'keyring'>): Promise<void> {
  const missing = await findMissingKey(ctx).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'key_invalid') return error;
    throw error;
  });
  if (missing === null) return;
  throw new Refusal('not_ready', 'This daemon lacks the master key of its database.', {
    hint: 'The operator finds the id of the missing key in the log of the daemon.',
  });
}

/** The id of the master key that seals now, if this process cannot switch to it; else null. */
async function findMissingKey({ keyring }: Pick<Context, 'keyring'>): Promise<string | null> {
  const [canary] = await listCanaries();
  if (canary === undefined || canary.keyId === keyring.keyId) return null;
  return keyring.sealWith(canary.keyId) ? null : canary.keyId;
}

/** Makes sure, when the app opens, that there is a key to sign sessions with (security X2). */
export async function ensureSigningKey(ctx: KeyContext): Promise<void> {
  if (await hasCurrent()) return;
  // Loaded only to create the first key: commands do not sign anything and should start fast.
  const { forgetKeys, createSigningKey } = await import('./signing-key.ts');
  const made = await createSigningKey(ctx);
  await transaction(async () => {
    // Two daemons that start at the same time may each create a key: both verify, the oldest signs.
    if (await hasCurrent()) return;
    await SigningKey.create(made);
  });
  forgetKeys(ctx);
}

async function hasCurrent(): Promise<boolean> {
  return (await SigningKey.count({ where: { retiredAt: null } })) > 0;
}
