import type { Command } from 'commander';
import type { z } from 'zod';
import { refuseField } from '../../errors.ts';
import type { Moving } from '../../services/instance/move/examine.ts';
import type { foreseenView, movedView } from '../../services/instance/move/schema.ts';
import { noun, verb } from '../command.ts';
import { commandText } from '../next.ts';
import {
  becomeInstanceOwner,
  becomeOwnerWith,
  databaseFile,
  operatorName,
  readConfiguration,
  requireDatabaseFile,
} from '../operator.ts';
import { type Fields, holdsPassword } from '../output.ts';
import { withProgress } from '../progress.ts';
import { readNamedFile } from '../prompt.ts';
import type { Call } from '../run.ts';
import { failedResult } from '../steps.ts';

type Foreseen = z.output<typeof foreseenView>;
type Moved = z.output<typeof movedView>;

const fields: Fields<Moved | Foreseen> = [
  ['From', (view) => view.from],
  ['To', (view) => view.to],
  ['Rows', (view) => view.rows],
  [
    'Tables',
    ({ tables }) => {
      const filled = tables.filter(({ rows }) => rows > 0);
      return filled.map(({ name, rows }) => `${name} ${rows}`).join(', ');
    },
  ],
];

export function addDatabaseCommands(program: Command): void {
  const database = noun(program, 'database', {
    summary: 'The database of the instance',
    example: 'idctl database move --to sqlite:moved.db',
  });
  verb(database, 'move', {
    summary: 'Move the instance to another, empty database',
    detail:
      'Stop the daemon first. The master key stays the same. If a move is interrupted,\nrun it again. After the move, idctl refuses the old database.',
    options: {
      '--to <url>': 'the new database: sqlite:FILE or postgres://USER@HOST/NAME',
      '--to-file <file>': 'read the URL from a file, which may contain a password',
    },
    rehearsable: true,
    example: 'idctl database move --to sqlite:moved.db',
    run: move,
  });
}

async function move(call: Call): Promise<void> {
  const { foreseeMove } = await import('../../services/instance/move/foresee.ts');
  const { moveDatabase } = await import('../../services/instance/move/move.ts');
  const url = await newAddress(call);
  const loaded = await readConfiguration(call.flags);
  requireDatabaseFile(loaded);
  const file = databaseFile(url);
  if (file === null || call.flags.dryRun) becomeInstanceOwner(loaded);
  else await becomeOwnerWith(loaded, file);
  const from = loaded.config.database;
  let doing = 'checking';
  const moving: Moving = {
    from,
    to: { ...from, url },
    operator: operatorName(),
    clock: () => new Date(),
    again: call.flags.yes,
    open: (database, migrate) => openAt(loaded, database, migrate),
    progress: ({ doing: step, table, done, total }) => {
      doing = `${step} ${table}, ${Math.floor((100 * done) / Math.max(1, total))} %`;
    },
  };
  const work = async (): Promise<Moved | Foreseen> =>
    call.flags.dryRun ? foreseeMove(moving) : moveDatabase(moving);
  const view = await withProgress(work, !call.flags.quiet, () => doing);
  if ('refusals' in view) return tellForeseen(call, view);
  call.show(view, fields);
  call.note(`From now on, idctl refuses the old database: ${view.from}`);
  call.note('Next: set database.url to the new database, then start the daemon.');
}

function tellForeseen(call: Call, view: Foreseen): void {
  call.note('Dry run: nothing was changed.');
  call.show(view, fields);
  for (const { message, hint } of view.refusals)
    call.note(`Refused: ${message}${hint === null ? '' : `\nhint: ${commandText(hint)}`}`);
  if (view.refusals.length > 0) throw failedResult();
}

/** The new URL. Other users can read arguments, so only a file may contain a password. */
async function newAddress(call: Call): Promise<string> {
  const { to, toFile } = call.input;
  if (typeof toFile === 'string') {
    if (to !== undefined) throw refuseField('toFile', 'cannot be combined with --to');
    const url = (await readNamedFile('toFile', toFile)).toString('utf8').trim();
    if (holdsPassword(url)) await warnOfReaders(call, toFile);
    return checked('toFile', url);
  }
  if (typeof to !== 'string') throw refuseField('to', 'is required, or --to-file');
  if (holdsPassword(to))
    throw refuseField(
      'to',
      'must not contain the password',
      'Write the URL to a file: --to-file FILE',
    );
  return checked('to', to);
}

async function warnOfReaders(call: Call, file: string): Promise<void> {
  const { readableByOthers } = await import('../../config/load.ts');
  const warning = await readableByOthers(file);
  if (warning !== null) call.note(`warning: ${warning}`);
}

async function checked(field: string, url: string): Promise<string> {
  const { databaseUrl } = await import('../../config/values.ts');
  const { parseField } = await import('../../input.ts');
  return parseField(field, databaseUrl, url);
}

async function openAt(
  { config }: Awaited<ReturnType<typeof readConfiguration>>,
  database: Moving['to'],
  migrate: 'refuse-pending' | 'already',
) {
  const { openApp } = await import('../../app.ts');
  const log = { ...config.log, level: 'warn' as const };
  return openApp({ config: { ...config, database, log } }, { migrate });
}
