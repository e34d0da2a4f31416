import { existsSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { createKeyFile, readKeyFile } from '../../../crypto/key-file.ts';
import { Refusal } from '../../../errors.ts';

/** A master key that existed, or was just made. */
export interface KeyFile {
  made: boolean;
  /** Removes a key that was just made; an existing one stays. */
  takeBack(): Promise<void>;
}

/** Makes the master key unless there is one. An existing file is never changed (security X3). */
export async function ensureKeyFile(path: string): Promise<KeyFile> {
  try {
    await createKeyFile(path);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'already_exists') throw error;
    return { made: false, takeBack: async () => {} };
  }
  return { made: true, takeBack: () => unlink(path) };
}

/** Refuses an unusable master key (security X3). A missing one is only a warning. */
export async function checkKeyFile(path: string): Promise<string | null> {
  if (!existsSync(path))
    return `the master key ${path} is not there; idctl init makes one for a new instance`;
  await readKeyFile(path);
  return null;
}
