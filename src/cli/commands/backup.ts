import { existsSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { z } from 'zod';
import type { LoadedConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { openContext } from '../../context.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { nameFileIn } from '../../host/file-fault.ts';
import type {
  backupView,
  restoredView,
  restoreInput,
} from '../../services/instance/backup/container.ts';
import type { settleRestored } from '../../services/instance/backup/settle.ts';
import { verb } from '../command.ts';
import { startHere } from '../next.ts';
import { becomeInstanceOwner, operatorName, readConfiguration } from '../operator.ts';
import type { Fields } from '../output.ts';
import { cleaningUp, withProgress } from '../progress.ts';
import type { Call } from '../run.ts';

/** The fields of a backup that a person sees. */
export const backupFields: Fields<z.output<typeof backupView>> = [
  ['Backup', (view) => view.file],
  ['Made', (view) => view.createdAt],
  ['By', (view) => `idctl ${view.version}, ${view.migration}`],
  ['Database', (view) => (view.database === 'sqlite' ? 'SQLite' : 'PostgreSQL')],
  ['Organizations', (view) => view.organizations],
  ['Accounts', (view) => view.accounts],
  ['Master key', (view) => view.keyId],
  ['Bytes', (view) => view.bytes],
];

export function addBackupCommand(program: Command): void {
  verb(program, 'backup <file>', {
    summary: 'Copy the database to a file, or with - to standard output',
    example: 'idctl backup idctl.backup',
    run: backup,
  });
}

async function backup(call: Call): Promise<void> {
  const { makeBackup } = await import('../../services/instance/backup/make.ts');
  const { removeUnfinished } = await import('../../services/instance/backup/unfinished.ts');
  const given = String(call.input['file']);
  const file = resolve(given);
  if (given === '-' && process.stdout.isTTY)
    throw refuseField(
      'file',
      'cannot be written to a terminal',
      'Name a file, or redirect the output: idctl backup - >FILE',
    );
  if (given !== '-' && existsSync(file)) {
    if (statSync(file).isDirectory()) throw new Refusal('invalid_input', nameFileIn(file));
    await call.confirm(`Replace ${file}?`);
  }
  const make = () => call.operate(makeBackup, { to: given === '-' ? process.stdout : file });
  const view = await cleaningUp(removeUnfinished, () => withProgress(make, !call.flags.quiet));
  if (given !== '-') call.show(view, backupFields);
  call.note(
    'The backup does not include the master key. Keep a copy of the key file somewhere else.',
  );
}

const operations = () => import('../../services/instance/backup/container.ts');

type Input = z.output<typeof restoreInput>;

const fields: Fields<z.output<typeof restoredView>> = [
  ...backupFields,
  ['Sessions ended', (view) => view.ended.sessions],
  ['Bot tokens ended', (view) => view.ended.botTokens],
  ['Invitations ended', (view) => view.ended.invitations],
  ['Setup links ended', (view) => view.ended.setupLinks],
  ['Recovery codes ended', (view) => view.ended.recoveryCodes],
  ['Tokens suspended', (view) => view.suspended.tokens],
  ['Apps suspended', (view) => view.suspended.apps],
  ['Clients suspended', (view) => view.suspended.clients],
  ['SCIM suspended', (view) => view.suspended.scimTokens],
  ['Passkeys off', (view) => view.suspended.passkeys],
  ['Webhooks off', (view) => view.disabled.webhooks],
  ['Cannot sign in', (view) => view.shutOut],
];

export function addRestoreCommand(program: Command): void {
  verb(program, 'restore <file>', {
    summary: 'Restore a backup into an empty database, with the same key',
    options: {
      '--check': 'only check the backup against the key file, and show its contents',
      '--keep-tokens':
        'leave tokens, apps, clients, passkeys, recovery codes, invitations and webhooks as they were',
    },
    example: 'idctl restore idctl.backup --check',
    run: restore,
  });
}

async function restore(call: Call): Promise<void> {
  const { parse } = await import('../../input.ts');
  const { restoreInput } = await import('../../services/instance/backup/container.ts');
  const { removeUnfinished } = await import('../../services/instance/backup/unfinished.ts');
  const { openBackupFile } = await operations();
  const input = parse(restoreInput, call.input);
  if (input.file === '-')
    throw refuseField(
      'file',
      'cannot be standard input, because the backup is read twice',
      'Write the backup to a file first: cat >idctl.backup',
    );
  const path = resolve(input.file);
  const loaded = await readConfiguration(call.flags);
  // Open the file before root switches to another user, who may not be able to read it.
  const file = await openBackupFile(path);
  try {
    becomeInstanceOwner(loaded);
    const view = await cleaningUp(removeUnfinished, () =>
      withProgress(() => work(loaded, file, { ...input, file: path }), !call.flags.quiet),
    );
    if ('ended' in view) call.show(view, fields);
    else call.show(view, backupFields);
  } finally {
    await file.close();
  }
  call.note(
    input.check
      ? 'The backup is complete, and the configured master key opens it.'
      : next(call, input.keepTokens),
  );
}

async function work(
  { config }: LoadedConfig,
  file: FileHandle,
  { file: path, check, keepTokens }: Input,
): Promise<z.output<typeof backupView> | z.output<typeof restoredView>> {
  const { openBackup } = await operations();
  const { examineBackup, unpackBackup } = await import('../../services/instance/backup/unpack.ts');
  const backup = await openBackup(file, config.keyFile);
  const view = { ...backup.header, file: path, bytes: backup.bytes };
  if (check) {
    await examineBackup(backup);
    return view;
  }
  const placed = await unpackBackup(backup, config.database);
  try {
    const settled = await settle(
      { ...config, database: { ...config.database, url: placed.url } },
      { ...backup, keepTokens },
    );
    await placed.finish();
    return { ...view, ...settled };
  } catch (error) {
    await placed.takeBack();
    throw error;
  }
}

/** Migrates the restored database, and ends or suspends the access that it contains. */
async function settle(config: Config, restored: Parameters<typeof settleRestored>[1]) {
  const { openApp } = await import('../../app.ts');
  const { settleRestored } = await import('../../services/instance/backup/settle.ts');
  const { promise, resolve: settled } =
    Promise.withResolvers<Awaited<ReturnType<typeof settleRestored>>>();
  const app = await openApp(
    { config: { ...config, log: { ...config.log, level: 'warn' } } },
    {
      migrate: 'yes',
      first: async (opened) => {
        settled(
          await settleRestored(
            openContext(opened, { kind: 'operator', name: operatorName() }),
            restored,
          ),
        );
      },
    },
  );
  await app.close();
  return promise;
}

function next({ here }: Call, keepTokens: boolean): string {
  const tokens =
    'Suspended tokens, apps and clients need a new secret. Their owner creates it, or you do:\n  idctl pat regenerate, idctl app regenerate, idctl client rotate, or idctl scim token rotate\n';
  const passkeys =
    'Passkeys are a second factor only until their person signs in another way. A person under "Cannot sign in" has no other way: idctl user login-link EMAIL\n';
  const webhooks = `Webhooks are disabled, because this may be a test copy. To enable one: ${here('idctl webhook enable ID')}\n`;
  return `Everyone must sign in again.\n${keepTokens ? '' : tokens + passkeys + webhooks}Next: ${startHere()}`;
}
