import { createHmac } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { readKeyFile } from '../../../crypto/key-file.ts';
import { createKeyring, type Keyring } from '../../../crypto/seal.ts';
import { isEqual } from '../../../crypto/secret.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { accessHint, fileFault } from '../../../host/file-fault.ts';
import { jsonIn } from '../../../input.ts';
import type { Next } from '../../../next.ts';
import { instant } from '../../foundation/fields.ts';

export const restoreInput = z.strictObject({
  file: z.string().min(1, 'must name a file'),
  check: z.boolean().default(false),
  keepTokens: z.boolean().default(false),
});

/** The header of a backup, before the database. */
export const backupHeader = z.object({
  /** The idctl version that created the backup. */
  version: z.string(),
  createdAt: instant,
  database: z.enum(['sqlite', 'postgres']),
  /** The id of the master key that opens the secrets in the backup. */
  keyId: z.string(),
  /** The last migration applied to the database. */
  migration: z.string(),
  /** The numbers of organizations and accounts just before the backup. */
  organizations: z.int(),
  accounts: z.int(),
});

export const backupView = backupHeader.extend({ file: z.string(), bytes: z.int() });

/** The counts of everything that a restore ended, suspended and disabled. */
export const restoredView = backupView.extend({
  ended: z.object({
    sessions: z.int(),
    setupLinks: z.int(),
    botTokens: z.int(),
    invitations: z.int(),
    recoveryCodes: z.int(),
  }),
  suspended: z.object({
    tokens: z.int(),
    apps: z.int(),
    clients: z.int(),
    scimTokens: z.int(),
    passkeys: z.int(),
  }),
  disabled: z.object({ webhooks: z.int() }),
  shutOut: z
    .array(z.string())
    .describe('The people who can sign in only with a suspended passkey.'),
});

// A backup has two header lines, the database, an end line, and an HMAC-SHA256 of these parts.
// The HMAC key is derived from the master key, so changes made without the master key are detected.

const firstLine = 'idctl backup 1\n';
const lastLine = '\nend of idctl backup\n';
const macBytes = 32;
const longestHeader = 4096;
const tailBytes = lastLine.length + macBytes;

type Header = z.output<typeof backupHeader>;

/** A backup that was checked to be complete and unchanged. */
export interface Backup {
  header: Header;
  /** The size of the whole file. */
  bytes: number;
  /** The database in the backup: a SQLite file, or `pg_dump` output. */
  database(): Readable;
}

/** Generates the bytes of a backup. */
export async function* packed(
  header: Header,
  database: AsyncIterable<Buffer>,
  keyring: Keyring,
): AsyncGenerator<Buffer> {
  const mac = createHmac('sha256', keyring.derive('backup'));
  const noted = (chunk: Buffer) => {
    mac.update(chunk);
    return chunk;
  };
  yield noted(Buffer.from(`${firstLine}${JSON.stringify(header)}\n`));
  for await (const chunk of database) yield noted(chunk);
  yield noted(Buffer.from(lastLine));
  yield mac.digest();
}

/**
 * Reads a backup to the end. Refuses with `backup_invalid` for an incomplete or changed file, and
 * `key_invalid` for another master key, with the id of the needed key.
 */
async function readBackup(
  file: FileHandle,
  { keyring, keyFile }: { keyring: Keyring; keyFile: string },
): Promise<Backup> {
  const { size } = await file.stat();
  const { header, length } = await readHeader(file);
  if (!keyring.sealWith(header.keyId)) throw otherKey(header.keyId, keyring.keyId, keyFile);
  const end = size - macBytes;
  const mac = createHmac('sha256', keyring.derive('backup'));
  const sum = await read(file, Math.max(0, size - tailBytes), tailBytes);
  if (size < length + tailBytes || sum.toString('latin1', 0, lastLine.length) !== lastLine)
    throw truncated();
  for await (const chunk of stream(file, 0, end)) mac.update(chunk);
  if (!isEqual(mac.digest('hex'), sum.toString('hex', lastLine.length))) throw altered();
  return { header, bytes: size, database: () => stream(file, length, size - tailBytes) };
}

async function readHeader(file: FileHandle): Promise<{ header: Header; length: number }> {
  const start = (await read(file, 0, longestHeader)).toString('latin1');
  if (!start.startsWith(firstLine)) {
    if (/^idctl backup \d/.test(start))
      throw invalid(
        'A newer idctl made this backup.',
        'Install the version of idctl that made the backup, or a later one.',
      );
    throw invalid('This is not a backup of idctl.', { to: 'make a backup', operation: 'backup' });
  }
  const ends = start.indexOf('\n', firstLine.length);
  if (ends === -1) throw truncated();
  const header = backupHeader.safeParse(jsonIn(start.slice(firstLine.length, ends)));
  if (!header.success) throw altered();
  return { header: header.data, length: ends + 1 };
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function stream(file: FileHandle, start: number, end: number): Readable {
  // For Node, `end` is the last byte. It must not be less than `start`.
  return file.createReadStream({ start, end: end - 1, autoClose: false, highWaterMark: 1 << 20 });
}

const useAnother = 'Use another copy of the backup, or another backup.';

function truncated(): Refusal {
  return invalid('This backup is truncated: its end is missing.', useAnother);
}

function altered(): Refusal {
  return invalid('This backup was changed after it was made.', useAnother);
}

/** The refusal of a file that cannot be restored. */
export function invalid(message: string, hint: Next): Refusal {
  return new Refusal('backup_invalid', message, { hint });
}

function otherKey(needed: string, own: string, keyFile: string): Refusal {
  return new Refusal(
    'key_invalid',
    `This backup needs the master key ${needed}, but ${keyFile} contains ${own}.`,
    {
      hint: {
        technical: 'Set keyFile to the key file that the instance had when the backup was made.',
      },
    },
  );
}

/** Opens the file of a backup. The caller must close the file. */
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

/** Reads the backup in an open file, and checks it with the master key in `keyFile`. */
export async function openBackup(file: FileHandle, keyFile: string): Promise<Backup> {
  return readBackup(file, { keyring: createKeyring(await readKeyFile(keyFile)), keyFile });
}
