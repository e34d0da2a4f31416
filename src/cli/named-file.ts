import { readFile } from 'node:fs/promises';
import { refuseField } from '../errors.ts';
import { accessHint, fileFault } from '../file-fault.ts';

/** What is in a file that the command line names; refuses the field or flag that named it, with what is wrong with the file. */
export async function readNamedFile(field: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw refuseField(field, `${path} ${fileFault(cause, 'read')}`, accessHint(cause));
  }
}
