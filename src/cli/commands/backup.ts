import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { z } from 'zod';
import { Refusal, refuseField } from '../../errors.ts';
import { nameFileIn } from '../../file-fault.ts';
import type { backupView } from '../../services/instance/backup/schema.ts';
import { by } from '../by.ts';
import { verb } from '../command.ts';
import { cleaningUp } from '../interrupted.ts';
import type { Fields } from '../output.ts';
import { withProgress } from '../progress.ts';
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

/** Declares `idctl backup`. */
export function addBackupCommand(program: Command): void {
  verb(program, 'backup <file>', {
    summary: 'Copy the whole instance to a file, or with - to standard output',
    example: 'idctl backup idctl.backup',
    run: backup,
  });
}

async function backup(call: Call): Promise<void> {
  const { makeBackup } = await import('../../services/instance/backup/make.ts');
  const { removeUnfinished } = await import('../../services/instance/backup/unfinished.ts');
  const { backupInput } = await import('../../services/instance/backup/schema.ts');
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
  const make = () =>
    call.operate(by(backupInput, (ctx) => makeBackup(ctx, given === '-' ? process.stdout : file)));
  const view = await cleaningUp(removeUnfinished, () => withProgress(make, !call.flags.quiet));
  if (given !== '-') call.show(view, backupFields);
  call.note(
    'The backup does not include the master key. Keep a copy of the key file somewhere else.',
  );
}
