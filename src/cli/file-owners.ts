import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LoadedConfig } from '../config/load.ts';
import type { Check } from '../services/instance/doctor/check.ts';
import { commandText } from './next.ts';
import { databaseFile, instanceOwner, ownerOf } from './operator.ts';

/**
 * As root, checks that the daemon's user owns the files of the instance. Null if it does, and for
 * other users. Call this before the command becomes that user.
 */
export async function checkFileOwners(loaded: LoadedConfig): Promise<Check | null> {
  if (process.getuid?.() !== 0) return null;
  const { checkOwners } = await import('../services/instance/doctor/owners.ts');
  const { file, config } = loaded;
  return checkOwners({
    configFile: file,
    keyFile: config.keyFile,
    databaseFile: databaseFile(config.database.url),
    // Root may have created a new key. The folder of the configuration then shows the owner.
    owner: instanceOwner(loaded) || (file === null ? 0 : ownerOf(dirname(file)).uid),
  });
}

/** The fault that `checkFileOwners` finds, and its remedy, as warnings of one line. */
export async function warnOfFileOwners(loaded: LoadedConfig): Promise<string[]> {
  const found = await checkFileOwners(loaded);
  if (found === null) return [];
  return [`${found.message}. Run: ${commandText(found.hint)}`];
}

/**
 * Gives a configuration that root has written before the setup to the user of the daemon. Leaves a
 * link alone: it could lead to a file of the system.
 */
export async function giveToOwner(file: string, keyFile: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (handle === null) return;
  try {
    const found = await handle.stat();
    if (found.isFile() && found.uid === 0 && found.nlink === 1)
      await handle.chown(ownerOf(keyFile).uid, found.gid);
  } finally {
    await handle.close();
  }
}
