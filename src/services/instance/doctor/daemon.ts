import { z } from 'zod';
import type { LoadedConfig } from '../../../config/load.ts';
import type { Context } from '../../../context.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { right, wrong } from '../../../finding.ts';
import { lookAtDaemons, tellOlder } from '../daemons/look.ts';
import { type Check, check } from './check.ts';

const keySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });

/**
 * Whether the daemon at the base URL uses another database. Then it publishes none of our signing
 * keys, or no process has this database open (`idle`). A copy has the same keys, so for a copy only
 * `idle` can tell.
 */
export async function servesAnother(
  { config, outbound }: Context,
  idle: boolean,
): Promise<boolean> {
  if (idle) return true;
  const { body } = await outbound.reach(`${config.baseUrl}/.well-known/jwks.json`);
  const theirs = kidsIn(body);
  const ours = await SigningKey.findAll({ attributes: ['id'] });
  return !ours.some(({ id }) => theirs.includes(id));
}

/**
 * Whether the daemon has read the configuration file in its current state. Null if no daemon is
 * known to use the file.
 */
export async function checkDaemon(
  ctx: Context,
  { file, digest, restDigest }: Pick<LoadedConfig, 'file' | 'digest' | 'restDigest'>,
): Promise<Check | null> {
  if (file === null || digest === null || restDigest === null) return null;
  const found = await lookAtDaemons(ctx, { file, digest, restDigest });
  if (found === null) return null;
  return check('daemon', `it runs with the current ${file}`, async () => {
    const older = tellOlder(found);
    return older !== null ? wrong(older.message, older.hint) : right(`runs ${file} as it is now`);
  });
}

function kidsIn(body: string): string[] {
  try {
    return keySet.safeParse(JSON.parse(body)).data?.keys.map(({ kid }) => kid) ?? [];
  } catch {
    return [];
  }
}
