import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Refusal } from '../errors.ts';
import { codeOf, fileFault, isMissing } from '../host/file-fault.ts';
import { shellWord } from '../text/shell-word.ts';

const keyBytes = 32;
const longest = 4096;
const comment =
  '# The master key of idctl: it decrypts every stored secret. Keep a copy apart from the backups of the database.\n' +
  '# The first key encrypts. A second key, left by idctl key rotate master, still decrypts.';

/**
 * Writes a new master key of 256 random bits, mode 0600. Refuses with `already_exists` if the path
 * exists.
 */
export async function createKeyFile(path: string): Promise<void> {
  const file = await openNew(path);
  try {
    // Flush the file and its name to disk before the key seals anything.
    await writeKeys(file, [newMasterKey()]);
    await syncFolder(dirname(path));
  } catch (cause) {
    await unlink(path);
    throw unwritable(path, cause);
  } finally {
    await file.close();
  }
}

/**
 * Replaces the keys in the file atomically: a reader finds the old keys or the new ones. If root
 * runs idctl, the file keeps its owner.
 */
export async function replaceKeyFile(path: string, keys: readonly Buffer[]): Promise<void> {
  try {
    const target = await realpath(path);
    const { uid, gid } = await stat(target);
    const beside = `${target}.${randomUUID()}`;
    const file = await open(beside, 'wx', 0o600);
    try {
      if (process.getuid?.() === 0) await file.chown(uid, gid);
      await writeKeys(file, keys);
      await rename(beside, target);
    } catch (cause) {
      await unlink(beside);
      throw cause;
    } finally {
      await file.close();
    }
    await syncFolder(dirname(target));
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** A new random key of 256 bits. */
export function newMasterKey(): Buffer {
  return randomBytes(keyBytes);
}

/**
 * Reads the master keys in the file. The first one seals. Refuses with `key_invalid` if the file is
 * missing, open to other users, truncated or contains an invalid key (security X3, X8). The refusal
 * names the file, the cause and the fix.
 */
export async function readKeyFile(path: string): Promise<Buffer[]> {
  return readKeys(path).keys;
}

/**
 * Returns a function that reads the keys of the file. The call is cheap while the file is
 * unchanged.
 */
export function keyFileReader(path: string): () => Buffer[] {
  let last: ReturnType<typeof readKeys> = { of: '', keys: [] };
  return () => {
    if (versionAt(path) !== last.of) last = readKeys(path);
    return last.keys;
  };
}

function readKeys(path: string): { of: string; keys: Buffer[] } {
  const file = openOld(path);
  try {
    const found = requireSmallFile(file, path);
    const keys = keysIn(readFileSync(file, 'utf8'), path);
    // Checked last: a file without a key must not cause advice to change its mode.
    requirePrivate(found, path);
    return { of: versionOf(found), keys };
  } finally {
    closeSync(file);
  }
}

/** The version of the file; `none` if there is an error, which the next read reports. */
function versionAt(path: string): string {
  try {
    return versionOf(statSync(path));
  } catch {
    return 'none';
  }
}

function versionOf({ ino, mtimeMs, ctimeMs, size }: Stats): string {
  return `${ino} ${mtimeMs} ${ctimeMs} ${size}`;
}

async function writeKeys(file: FileHandle, keys: readonly Buffer[]): Promise<void> {
  await file.writeFile(
    `${comment}\n${keys.map((key) => `${key.toString('base64url')}\n`).join('')}`,
  );
  await file.sync();
}

function unwritable(path: string, cause: unknown): Refusal {
  return new Refusal('key_invalid', `The master key ${path} ${fileFault(cause, 'written')}.`, {
    hint: `Check that idctl's user can write in ${dirname(path)}, and that the disk has space.`,
    cause,
  });
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') {
      throw new Refusal(
        'already_exists',
        `${path} already exists. idctl never replaces a master key.`,
        {
          cause,
        },
      );
    }
    throw unwritable(path, cause);
  }
}

function openOld(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    const missing = isMissing(cause);
    throw new Refusal(
      'key_invalid',
      missing
        ? `The master key ${path} is missing.`
        : `The master key ${path} ${fileFault(cause, 'read')}.`,
      {
        hint: missing
          ? [
              { technical: 'Correct keyFile, or restore the key file from its copy.' },
              { say: 'Only for a new instance, run', operation: 'init' },
            ]
          : { technical: `Run idctl as the owner of ${path}.` },
        cause,
      },
    );
  }
}

function requireSmallFile(file: number, path: string): Stats {
  const found = fstatSync(file);
  if (!found.isFile()) throw notKey(path, 'it is not a file');
  if (found.size > longest) throw notKey(path, `it has ${found.size} bytes`);
  return found;
}

function requirePrivate(found: Stats, path: string): void {
  if ((found.mode & 0o077) !== 0) {
    const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
    throw new Refusal(
      'key_invalid',
      `The master key ${path} is open to other users (mode ${mode}).`,
      {
        hint: `chmod 600 ${shellWord(path)}`,
      },
    );
  }
}

function keysIn(text: string, path: string): Buffer[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines.length === 0)
    throw notKey(path, 'it does not contain a key: the file is empty or truncated');
  return lines.map((line) => keyIn(line, path));
}

function keyIn(line: string, path: string): Buffer {
  if (!/^[A-Za-z0-9_-]+$/.test(line)) throw notKey(path, 'a line is not base64url');
  const key = Buffer.from(line, 'base64url');
  if (key.length < keyBytes) throw notKey(path, `truncated: ${key.length} of ${keyBytes} bytes`);
  if (key.length > keyBytes)
    throw notKey(path, `${key.length} bytes where ${keyBytes} are expected`);
  return key;
}

function notKey(path: string, why: string): Refusal {
  return new Refusal('key_invalid', `The master key ${path} is not usable: ${why}.`, {
    hint: { technical: 'Correct keyFile, or restore the key file from its copy.' },
  });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
