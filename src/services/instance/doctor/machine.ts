import { stat } from 'node:fs/promises';
import { z } from 'zod';
import type { LoadedConfig } from '../../../config/load.ts';
import type { Context } from '../../../context.ts';
import { readKeyFile } from '../../../crypto/key-file.ts';
import { SigningKey } from '../../../database/models/signing-key.ts';
import { right, wrong } from '../../../finding.ts';
import { jsonIn } from '../../../input.ts';
import { readVersion } from '../../../version.ts';
import { lookAtDaemons, tellOlder } from '../daemons.ts';
import { type Check, check } from './check.ts';

/** Checks the version of Node, and shows that of idctl. */
export function checkRuntime(): Promise<Check> {
  return check('runtime', 'Node 24 from 24.15 on, or Node 26 or later', async () => {
    const version = process.versions.node;
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const fits = (major === 24 && minor >= 15) || major >= 26;
    const message = `idctl ${readVersion()} on Node ${version}`;
    return fits
      ? right(message)
      : wrong(message, 'Run install.sh again to install a supported Node version.');
  });
}

/** Checks the configuration. Fails if it could not be read. */
export async function checkConfig(
  read: () => Promise<LoadedConfig>,
): Promise<{ loaded: LoadedConfig | null; check: Check }> {
  let loaded: LoadedConfig | null = null;
  const found = await check('configuration', 'known settings with usable values', async () => {
    loaded = await read();
    const { file, warnings } = loaded;
    const from = file ?? 'no file: defaults and environment';
    return right(from, warnings.length === 0 ? undefined : warnings.join('; '));
  });
  return { loaded, check: found };
}

/** Checks that the master key exists, is complete and is private (security X3, X8). */
export function examineKeyFile(path: string): Promise<Check> {
  return check('master key', 'a complete key that only its owner can read', async () => {
    await readKeyFile(path);
    const { uid } = await stat(path);
    const own = process.geteuid?.() ?? uid;
    if (uid !== own) {
      return wrong(
        `${path} belongs to uid ${uid}, but idctl runs as ${own}`,
        `Run idctl as the user with the id ${uid}.`,
      );
    }
    return right(path);
  });
}

const keySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });

/**
 * Whether the daemon at this address uses another database. It does if no process has this database
 * open (`idle`), or if it does not publish a signing key of this database. A copy of the database
 * has the same keys, so only `idle` detects a copy.
 */
export async function servesAnother({ outbound }: Context, address: string, idle: boolean) {
  if (idle) return true;
  const { body } = await outbound.reach(`${address}/.well-known/jwks.json`);
  const theirs = keySet.safeParse(jsonIn(body)).data?.keys.map(({ kid }) => kid) ?? [];
  const ours = await SigningKey.findAll({ attributes: ['id'] });
  return !ours.some(({ id }) => theirs.includes(id));
}

/** Checks that the daemon has read the current file. Null if no daemon is known to use the file. */
export async function checkDaemon(
  ctx: Context,
  { file, digest, restDigest }: Pick<LoadedConfig, 'file' | 'digest' | 'restDigest'>,
): Promise<Check | null> {
  if (file === null || digest === null || restDigest === null) return null;
  const found = await lookAtDaemons(ctx, { configuration: { file, digest, restDigest } });
  if (found === null) return null;
  return check('daemon', `it is running with the current ${file}`, async () => {
    const older = tellOlder(found);
    return older !== null
      ? wrong(older.message, older.hint)
      : right(`running with the current ${file}`);
  });
}
