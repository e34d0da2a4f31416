import type { Context } from '../../../context.ts';
import { sealedPrefix } from '../../../crypto/seal.ts';
import { transaction } from '../../../database/transaction.ts';
import { findFormer, type Resealed, replaceSealed, sealedColumns } from './reseal.sql.ts';

const batch = 100;

/** Re-seals every value that was not sealed by the current key; returns how many. */
export async function reseal(ctx: Context): Promise<number> {
  let count = 0;
  for (const at of sealedColumns) {
    for (let more = true; more; ) {
      const done = await transaction(() => resealBatch(ctx, at));
      count += done;
      more = done > 0;
    }
  }
  return count;
}

/** Whether any value is sealed by a key other than the current one. */
export async function isAnythingFormer(ctx: Context): Promise<boolean> {
  const prefix = sealedPrefix(ctx.keyring.keyId);
  for (const at of sealedColumns) if ((await findFormer(at, prefix, 1)).length > 0) return true;
  return false;
}

async function resealBatch({ keyring }: Context, at: Resealed): Promise<number> {
  const rows = await findFormer(at, sealedPrefix(keyring.keyId), batch);
  for (const { id, sealed } of rows) {
    const place = { ...at, row: id };
    const to = keyring.seal(keyring.open(sealed, place), place);
    await replaceSealed(at, id, { from: sealed, to });
  }
  return rows.length;
}
