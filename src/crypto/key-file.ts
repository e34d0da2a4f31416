import { randomBytes } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Refusal } from '../errors.ts';

const keyBytes = 32;
const longest = 4096;
const comment =
  '# The master key of idctl: it opens every stored secret. Keep a copy apart from the backups of the database.';

/** Writes a new master key of 256 random bits, mode 0600; refuses `already_exists` over anything that is there. */
export async function createKeyFile(path: string): Promise<void> {
  const file = await openNew(path);
  try {
    await file.writeFile(`${comment}\n${randomBytes(keyBytes).toString('base64url')}\n`);
    // On disk, name included, before anything is sealed with it.
    await file.sync();
    await syncFolder(dirname(path));
  } catch (cause) {
    await unlink(path);
    throw new Refusal('key_invalid', `the master key ${path} cannot be written: ${causeOf(cause)}`, {
      cause,
    });
  } finally {
    await file.close();
  }
}

/**
 * The master key in this file. Refuses `key_invalid`, naming file, cause and remedy, when the file is
 * missing, readable by others, truncated or not a key (security X3, X8).
 */
export async function readKeyFile(path: string): Promise<Buffer> {
  const file = await openOld(path);
  try {
    await requirePrivateFile(file, path);
    return keyIn(await file.readFile('utf8'), path);
  } finally {
    await file.close();
  }
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') {
      throw new Refusal('already_exists', `${path} is there already; idctl never replaces a master key`, {
        cause,
      });
    }
    throw new Refusal('key_invalid', `the master key ${path} cannot be written: ${causeOf(cause)}`, {
      cause,
    });
  }
}

async function openOld(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    const missing = codeOf(cause) === 'ENOENT';
    throw new Refusal(
      'key_invalid',
      missing
        ? `the master key ${path} is missing`
        : `the master key ${path} cannot be read: ${causeOf(cause)}`,
      {
        hint: missing
          ? 'put the key file back from its copy; only for a new instance: idctl init'
          : `run idctl as the owner of ${path}`,
        cause,
      },
    );
  }
}

async function requirePrivateFile(file: FileHandle, path: string): Promise<void> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new Refusal('key_invalid', `the master key ${path} is not a file`);
  if ((stat.mode & 0o077) !== 0) {
    const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
    throw new Refusal('key_invalid', `the master key ${path} is open to others (mode ${mode})`, {
      hint: `chmod 600 ${shellWord(path)}`,
    });
  }
  if (stat.size > longest) throw notKey(path, `it has ${stat.size} bytes`);
}

function keyIn(text: string, path: string): Buffer {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [line, ...more] = lines;
  if (line === undefined) throw notKey(path, 'it holds no key: empty or truncated');
  if (more.length > 0) throw notKey(path, `it holds ${lines.length} lines where one key is expected`);
  if (!/^[A-Za-z0-9_-]+$/.test(line)) throw notKey(path, 'its line is not base64url');
  const key = Buffer.from(line, 'base64url');
  if (key.length < keyBytes) throw notKey(path, `truncated: ${key.length} of ${keyBytes} bytes`);
  if (key.length > keyBytes) throw notKey(path, `${key.length} bytes where ${keyBytes} are expected`);
  return key;
}

function notKey(path: string, why: string): Refusal {
  return new Refusal('key_invalid', `the master key ${path} is not usable: ${why}`, {
    hint: 'put the key file back from its copy',
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

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}

function causeOf(cause: unknown): string {
  return codeOf(cause) ?? 'unknown cause';
}

function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
