import { readFile } from 'node:fs/promises';
import { refuseField } from '../errors.ts';
import { accessHint, fileFault } from '../file-fault.ts';

/**
 * Reads a file that the command line names. The refusal names the field or flag, and what is wrong
 * with the file.
 */
export async function readNamedFile(field: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw refuseField(field, `${path} ${fileFault(cause, 'read')}`, accessHint(cause));
  }
}
