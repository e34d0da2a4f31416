import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { wrong } from '../../../finding.ts';
import { shellWord } from '../../../text/shell-word.ts';
import { type Check, check } from './check.ts';

/** The files of an instance, and the user whose files root reads and writes. */
export interface InstanceFiles {
  configFile: string | null;
  keyFile: string;
  /** The file of a SQLite database; null for a server. */
  databaseFile: string | null;
  owner: number;
}

/**
 * Checks as root that the daemon's user owns the files of the instance. Null if they do. The daemon
 * may run as another user than this command, so root must not own what that user reads.
 */
export async function checkOwners(files: InstanceFiles): Promise<Check | null> {
  const { configFile, keyFile, databaseFile, owner } = files;
  const beside = databaseFile === null ? [] : ['', '-wal', '-shm'].map((end) => databaseFile + end);
  for (const path of [keyFile, ...beside, ...(configFile === null ? [] : [configFile])]) {
    const found = await stat(path).catch(() => null);
    if (found === null) continue;
    const folder = await stat(dirname(path));
    // A new owner of the file could not reach it in this folder.
    if (folder.uid === 0 && (folder.mode & 0o001) === 0) continue;
    // idctl creates each file for the owner of its folder. If root owns the folder, it is `owner`.
    const expected = folder.uid === 0 ? owner : folder.uid;
    // Others may own a configuration file that all or a group can read.
    const isShared = path === configFile && (found.mode & 0o044) !== 0;
    if (found.uid === expected || isShared) continue;
    return check('file owners', "the daemon's user owns its files", async () =>
      wrong(
        `${path} belongs to uid ${found.uid}, but the daemon's user is uid ${expected}`,
        `chown ${expected} ${shellWord(path)}`,
      ),
    );
  }
  return null;
}
