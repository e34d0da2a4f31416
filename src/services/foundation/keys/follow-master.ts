import type { Context } from '../../../context.ts';
import { listCanaries } from './canary.ts';

/**
 * Seals with the database's current master key, which another process may have made (security X1).
 */
export async function followMasterKey(ctx: Context): Promise<void> {
  const [canary] = await listCanaries();
  if (canary === undefined || canary.keyId === ctx.keyring.keyId) return;
  if (ctx.keyring.sealWith(canary.keyId)) return;
  const { keyFile } = ctx.config;
  ctx.log.error(
    { keyFile, keyId: canary.keyId },
    'the key file lacks the master key of this database',
  );
}
