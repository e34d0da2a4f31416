import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Organization } from '../../../database/models/organization.ts';
import { outputOf, requireProgram } from '../../../database/postgres-programs.ts';
import { dialectOfDatabase } from '../../../database/select.ts';
import { copySqlite, synced } from '../../../database/sqlite-copy.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { codeOf, fileFault, isMissing } from '../../../host/file-fault.ts';
import type { Next } from '../../../next.ts';
import { readVersion } from '../../../version.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { operation } from '../../foundation/operation.ts';
import { readLastMigration, readServerVersion } from '../instance.sql.ts';
import { type backupHeader, backupView, invalid, packed } from './container.ts';
import { inFolder } from './unfinished.ts';

/**
 * Writes a consistent copy of the instance to a file or a stream. The file appears only when it is
 * complete, and only its owner can read it. Daemons keep running. The backup does not contain the
 * master key.
 */
export const makeBackup = operation({
  authority: 'operator',
  input: z.strictObject({ to: z.union([z.string(), z.instanceof(Writable)]) }),
  output: backupView,
  run: async (ctx, { to }) => {
    const header = await describe(ctx);
    const beside = typeof to === 'string' ? dirname(to) : tmpdir();
    if (typeof to === 'string') await requireWritable(to);
    try {
      // The temporary folder is beside the backup, so that the final rename is atomic.
      return await inFolder(beside, async (folder) => {
        const database =
          header.database === 'sqlite' ? await copied(ctx, folder) : await dumped(ctx);
        const bytes = await write(
          packed(header, database, ctx.keyring),
          to,
          join(folder, 'backup'),
        );
        await transaction(() => recordEvent(ctx, { kind: 'backup.made', data: { bytes } }));
        return { ...header, file: typeof to === 'string' ? to : '-', bytes };
      });
    } catch (error) {
      throw explained(error);
    }
  },
});

async function describe({ keyring, now }: Context): Promise<z.output<typeof backupHeader>> {
  return {
    version: readVersion(),
    createdAt: now.toISOString(),
    database: dialectOfDatabase(),
    keyId: keyring.keyId,
    migration: (await readLastMigration()) ?? '',
    organizations: await Organization.count(),
    accounts: await Account.count(),
  };
}

async function requireWritable(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found && !found.isFile())
    throw refuseField('file', `exists but is not a regular file: ${file}`);
  const beside = dirname(file);
  const around = await stat(beside).catch(() => null);
  if (around && !around.isDirectory()) {
    throw refuseField(
      'file',
      `cannot be created: ${beside} is a file`,
      'Choose a file in an existing folder.',
    );
  }
  try {
    await access(beside, constants.W_OK);
  } catch (error) {
    if (isMissing(error))
      throw refuseField('file', `there is no folder ${beside}`, 'Create the folder first.');
    const hint: Next = [
      'Run idctl as the owner of the instance.',
      {
        say: 'Or redirect the output of this command to a file',
        operation: 'backup',
        with: { file: '-' },
      },
    ];
    throw refuseField('file', `${beside} ${fileFault(error, 'written')}`, hint);
  }
}

async function copied({ config }: Context, folder: string): Promise<AsyncIterable<Buffer>> {
  const copy = join(folder, 'database');
  await copySqlite(config.database, copy);
  return createReadStream(copy, { highWaterMark: 1 << 20 });
}

async function dumped({ config: { database } }: Context): Promise<AsyncIterable<Buffer>> {
  await requireProgram('pg_dump', await readServerVersion());
  return outputOf({
    program: 'pg_dump',
    words: ['--format=custom', '--no-owner', '--no-privileges', '--no-comments'],
    url: database.url,
  });
}

async function write(backup: AsyncIterable<Buffer>, to: string | Writable, draft: string) {
  if (typeof to !== 'string') {
    let bytes = 0;
    const counted = async function* () {
      for await (const chunk of backup) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(counted, to, { end: false });
    return bytes;
  }
  await pipeline(backup, createWriteStream(draft, { flags: 'wx', mode: 0o600 }));
  await synced(draft);
  const { size } = await stat(draft);
  await rename(draft, to);
  await synced(dirname(to));
  return size;
}

/** Turns an error of the disk or of the reading program into a refusal. */
function explained(error: unknown): unknown {
  const code = codeOf(error) ?? '';
  if (code === 'EPIPE')
    return invalid(
      'The program that reads the backup stopped reading.',
      'The backup is incomplete. Make it again.',
    );
  if (!['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code)) return error;
  return new Refusal('database_full', 'There is no space left for the backup.', {
    hint: 'A backup needs up to twice the size of the database. Free space, or use another folder.',
    cause: error,
  });
}
