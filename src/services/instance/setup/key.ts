import { existsSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { createKeyFile, readKeyFile } from '../../../crypto/key-file.ts';
import { Refusal } from '../../../errors.ts';

/** A master key that existed before, or was just created. */
export interface KeyFile {
  made: boolean;
  /** Removes a key that was just created. An existing key stays. */
  takeBack(): Promise<void>;
}

/** Creates the master key, but never changes an existing file (security X3). */
export async function ensureKeyFile(path: string): Promise<KeyFile> {
  try {
    await createKeyFile(path);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'already_exists') throw error;
    return { made: false, takeBack: async () => {} };
  }
  return { made: true, takeBack: () => unlink(path) };
}

/** Refuses an invalid master key (security X3). False if the key is missing. */
export async function checkKeyFile(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  await readKeyFile(path);
  return true;
}
