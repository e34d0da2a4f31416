import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { readKeyFile } from '../../../crypto/key-file.ts';
import { idOfMasterKey } from '../../../crypto/seal.ts';
import { requireOperator } from '../authority/require.ts';
import { usedKeyIds } from './canary.ts';
import { isAnythingFormer } from './reseal.ts';
import type { leavingKeysInput, leavingKeysView } from './schema.ts';

/**
 * The ids of the master keys that the next rotation takes out of the key file: those that sealed once. What was backed
 * up with one of them then opens with a copy of it alone. None while a rotation is still to be finished.
 */
export async function listLeavingKeys(
  ctx: Context,
  _input: z.output<typeof leavingKeysInput>,
): Promise<z.input<typeof leavingKeysView>> {
  requireOperator(ctx);
  if (await isAnythingFormer(ctx)) return { ids: [] };
  const used = await usedKeyIds();
  const ids = (await readKeyFile(ctx.config.keyFile)).map(idOfMasterKey);
  return { ids: ids.filter((id) => id !== ctx.keyring.keyId && used.has(id)) };
}
