import { Op } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { newMasterKey, readKeyFile, replaceKeyFile } from '../../../crypto/key-file.ts';
import { createKeyring, idOfMasterKey } from '../../../crypto/seal.ts';
import { KeyCanary } from '../../../database/models/key-canary.ts';
import { dialectOfDatabase, execute } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireOperator } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { plantCanary, usedKeyIds } from './canary.ts';
import { followMasterKey } from './follow-master.ts';
import { isAnythingFormer, reseal } from './reseal.ts';
import type { newMasterKeyView, rotateMasterKeyInput } from './schema.ts';

// The key file has the new key before the database does, and keeps the former one: whenever this is broken off,
// everything opens. Running daemons read the file again when they meet the new key, and follow it within seconds; what
// one of them still seals with the former key is sealed anew by the sweep.

/**
 * Puts a new master key in the place of the one that seals (security X1), and seals everything anew while daemons
 * serve. With `prepare` it only waits in the key file, to be copied to other hosts first. A rotation that was broken off
 * is finished, and no key is made.
 */
export async function rotateMasterKey(
  ctx: Context,
  { prepare }: z.output<typeof rotateMasterKeyInput>,
): Promise<z.input<typeof newMasterKeyView>> {
  requireOperator(ctx);
  const { id, state, former } = await transaction(async () => {
    await alone();
    await followMasterKey(ctx);
    if (await isAnythingFormer(ctx))
      return { id: ctx.keyring.keyId, state: 'finished' as const, former: null };
    return takeNewKey(ctx, prepare);
  });
  await followMasterKey(ctx);
  return { id, state, former, resealed: await reseal(ctx) };
}

/** Two rotations at once would each replace the key file. */
async function alone(): Promise<void> {
  if (dialectOfDatabase() === 'postgres') await execute('LOCK TABLE key_canaries IN EXCLUSIVE MODE', []);
}

async function takeNewKey(ctx: Context, prepare: boolean) {
  const { keyFile } = ctx.config;
  const former = ctx.keyring.keyId;
  const keys = await readKeyFile(keyFile);
  const current = keys.find((key) => idOfMasterKey(key) === former);
  if (current === undefined)
    throw new Refusal('key_invalid', `the master key ${keyFile} lacks the key that seals now (${former})`);
  const key = (await findUnused(keys)) ?? newMasterKey();
  const id = idOfMasterKey(key);
  await replaceKeyFile(keyFile, prepare ? [current, key] : [key, current]);
  if (prepare) return { id, state: 'prepared' as const, former };
  // Nothing is sealed by those before.
  await KeyCanary.destroy({ where: { keyId: { [Op.ne]: former } } });
  await plantCanary(createKeyring(key), ctx.now);
  await recordEvent(ctx, { kind: 'key.master.rotated', subject: { type: 'key', id }, data: { former } });
  return { id, state: 'rotated' as const, former };
}

/** A key that was prepared, or left by a rotation that was broken off before it counted. */
async function findUnused(keys: Buffer[]): Promise<Buffer | undefined> {
  const used = await usedKeyIds();
  return keys.find((key) => !used.has(idOfMasterKey(key)));
}
