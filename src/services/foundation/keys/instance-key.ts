import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Context } from '../../../context.ts';
import type { SealedColumn } from '../../../crypto/seal.ts';
import { randomToken } from '../../../crypto/secret.ts';
import { InstanceKey } from '../../../database/models/instance-key.ts';
import { transaction } from '../../../database/transaction.ts';

/**
 * The instance's random key for one purpose, created at its first use. Unlike a derived key, it
 * stays the same when the master key is replaced: `key rotate master` seals it again.
 */
export async function instanceKey(
  ctx: Context,
  purpose: 'recovery codes' | 'former addresses',
): Promise<KeyObject> {
  const { sealed } = (await InstanceKey.findByPk(purpose)) ?? (await makeKey(ctx, purpose));
  return createSecretKey(ctx.keyring.open(sealed, columnOf(purpose)), 'base64url');
}

async function makeKey({ keyring, now }: Context, id: string): Promise<InstanceKey> {
  return transaction(async () => {
    const sealed = keyring.seal(randomToken(256), columnOf(id));
    // If two daemons create the key at the same time, both use the one that was stored first.
    await InstanceKey.bulkCreate([{ id, sealed, createdAt: now }], { ignoreDuplicates: true });
    return InstanceKey.findByPk(id, { rejectOnEmpty: true });
  });
}

function columnOf(row: string): SealedColumn {
  return { table: 'instance_keys', column: 'sealed', row };
}
