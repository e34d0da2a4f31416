import type { Command } from 'commander';
import type { NamedThing } from '../../services/instance/completion.sql.ts';
import { escaped } from '../../text/escape.ts';
import { isSeen } from '../../text/unseen.ts';
import { isLocal } from '../door.ts';
import {
  becomeInstanceOwner,
  type Flags,
  readConfiguration,
  requireDatabaseFile,
} from '../operator.ts';
import { readWords, repliesFor } from './bash.ts';
import { type Wanted, wantedAt } from './wanted.ts';

/** The answer that makes the shell complete file names itself. */
const files = ':files';

/** The limit on a wait for the database after Tab, in milliseconds. */
const patience = 2000;

/** Answers zsh and fish, which quote values: on each line a value, a tab and its description. */
export async function answerShell(program: Command, line: readonly string[]): Promise<void> {
  const offered = await offer(program, line);
  if (offered === 'files') return print([files]);
  const lines = offered.map(({ value, about }) => {
    const told = escaped(about).replaceAll('\t', ' ');
    return `${value}${told === '' ? '' : `\t${told}`}`;
  });
  print(lines);
}

/** Answers bash, which puts each line in place of `replaced`, the end of the typed line. */
export async function answerBash(
  program: Command,
  [line = '', replaced = '']: string[],
): Promise<void> {
  const words = readWords(line);
  const [, ...given] = words.map(({ value }) => value);
  const offered = await offer(program, given);
  if (offered === 'files') return print([files]);
  const values = offered.map(({ value }) => value);
  print(repliesFor(words.at(-1) ?? words[0], replaced, values));
}

type Typed = Pick<Flags, 'server' | 'config'>;

async function offer(program: Command, line: readonly string[]): Promise<NamedThing[] | 'files'> {
  const wanted = wantedAt(program, line);
  if (wanted.files) return 'files';
  const flags = { server: valueIn(line, '--server'), config: valueIn(line, '--config') };
  const names = await namesOf(wanted, flags).catch(() => []);
  return [...wanted.words, ...names, ...(await eventsOf(wanted))]
    .map(({ value, about }) => ({ value: `${wanted.before}${value}`, about }))
    .filter(({ value }) => isSeen(value));
}

function print(lines: string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

async function namesOf({ names }: Wanted, flags: Typed): Promise<NamedThing[]> {
  // The database of this host does not know the names on a remote server.
  if (names === null || !isLocal(flags, process.env)) return [];
  const loaded = await readConfiguration(flags);
  requireDatabaseFile(loaded);
  becomeInstanceOwner(loaded);
  const { openUnprepared } = await import('../../app.ts');
  const { listNames } = await import('../../services/instance/completion.sql.ts');
  const late = setTimeout(() => process.exit(0), patience);
  const database = await openUnprepared(loaded.config);
  try {
    const found = await listNames(names.kind, names.begin, names.org);
    // Unless `dashes` is set, idctl would read a value that begins with a dash as an option.
    return names.dashes ? found : found.filter(({ value }) => !value.startsWith('-'));
  } finally {
    clearTimeout(late);
    await database.close();
  }
}

async function eventsOf({ events }: Wanted): Promise<NamedThing[]> {
  if (events === null) return [];
  const { eventKinds, eventNames } = await import('../../services/foundation/events/kinds.ts');
  return eventNames
    .filter((name) => name.startsWith(events))
    .map((value) => ({ value, about: eventKinds[value].about }));
}

/** The value of this option in the typed line. */
function valueIn(line: readonly string[], flag: string): string | undefined {
  const at = line.indexOf(flag);
  const joined = line.find((word) => word.startsWith(`${flag}=`));
  return at === -1 ? joined?.slice(flag.length + 1) : line[at + 1];
}
