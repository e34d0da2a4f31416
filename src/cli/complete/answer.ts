import type { Command } from 'commander';
import { escaped } from '../../escape.ts';
import type { Named } from '../../services/completion/list-names.ts';
import { becomeDatabaseOwner, readConfiguration, requireDatabaseFile } from '../operator.ts';
import { type Wanted, wantedAt } from './wanted.ts';

/** What says that files are wanted, which the shell knows best. */
const files = ':files';

/** How long a person waits for a database after pressing Tab, in milliseconds. */
const patience = 2000;

/** Answers a shell: a value a line, with a tab and a word on it. Quiet, whatever is wrong. */
export async function answerShell(program: Command, line: readonly string[]): Promise<void> {
  const wanted = wantedAt(program, line);
  if (wanted.files) return print([files]);
  const names = await namesOf(wanted, configIn(line)).catch(() => []);
  const lines = [...wanted.words, ...names, ...(await eventsOf(wanted))].map(({ value, about }) => {
    const told = escaped(about).replaceAll('\t', ' ');
    return `${wanted.before}${escaped(value)}${told === '' ? '' : `\t${told}`}`;
  });
  print(lines);
}

function print(lines: string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

async function namesOf({ names }: Wanted, config: string | undefined): Promise<Named[]> {
  if (names === null) return [];
  const loaded = await readConfiguration({ config });
  requireDatabaseFile(loaded);
  becomeDatabaseOwner(loaded);
  const { openUnprepared } = await import('../../app.ts');
  const { listNames } = await import('../../services/completion/list-names.ts');
  const late = setTimeout(() => process.exit(0), patience);
  const database = await openUnprepared(loaded.config);
  try {
    return await listNames(names.kind, names.begin, names.org);
  } finally {
    clearTimeout(late);
    await database.close();
  }
}

async function eventsOf({ events }: Wanted): Promise<Named[]> {
  if (events === null) return [];
  const { eventKinds, eventNames } = await import('../../services/events/kinds.ts');
  return eventNames
    .filter((name) => name.startsWith(events))
    .map((value) => ({ value, about: eventKinds[value].about }));
}

/** The file that the line itself names by `--config`. */
function configIn(line: readonly string[]): string | undefined {
  const at = line.indexOf('--config');
  const joined = line.find((word) => word.startsWith('--config='));
  return at === -1 ? joined?.slice('--config='.length) : line[at + 1];
}
