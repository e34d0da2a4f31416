import { type FileHandle, open } from 'node:fs/promises';
import { readKeyFile } from '../../../crypto/key-file.ts';
import { createKeyring } from '../../../crypto/seal.ts';
import { refuseField } from '../../../errors.ts';
import { accessHint, fileFault } from '../../../file-fault.ts';
import { type Backup, readBackup } from './container.ts';

/** Opens the file of a backup. The caller closes it. */
export async function openBackupFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'r');
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw refuseField('file', `${path} is not a file`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw refuseField('file', `${path} ${fileFault(error, 'read')}`, accessHint(error));
  }
}

/** The backup in the file. The master key in `keyFile` proves it complete and unchanged. */
export async function openBackup(file: FileHandle, keyFile: string): Promise<Backup> {
  return readBackup(file, { keyring: createKeyring(await readKeyFile(keyFile)), keyFile });
}
