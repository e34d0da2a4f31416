import type { Command, Option } from 'commander';
import type { Kind, NamedThing } from '../../services/instance/completion.sql.ts';
import { findCommand } from '../aliases.ts';

/** The completions of a line: idctl's own words, names in the database, or files. */
export interface Wanted {
  words: NamedThing[];
  /** Names of this kind, only those in `org` if it is set. `dashes` allows names like `-a`. */
  names: { kind: Kind; begin: string; org: string | undefined; dashes: boolean } | null;
  files: boolean;
  /** The prefix of the event kinds to offer; null to offer none. */
  events: string | null;
  /** The text before every value: `--org=` for `--org=a`. */
  before: string;
}

const nothing: Wanted = { words: [], names: null, files: false, events: null, before: '' };

/** Finds the completions of the last word, which may be empty. `line` is without `idctl`. */
export function wantedAt(program: Command, line: readonly string[]): Wanted {
  const last = line.at(-1) ?? '';
  const { command, awaited, positions, org, ended } = walk(program, line.slice(0, -1));
  if (awaited !== null) return ofOption(awaited, command, last, org);
  const [, flag, begin] = (ended ? null : /^(--[\w-]+)=(.*)$/.exec(last)) ?? [];
  if (flag !== undefined && begin !== undefined) {
    const option = optionsOf(command).find(({ long }) => long === flag);
    if (option === undefined || !takesValue(option)) return nothing;
    return { ...ofOption(option, command, begin, org), before: `${flag}=` };
  }
  if (last.startsWith('-') && !ended)
    return { ...nothing, words: starting(flagsOf(command), last) };
  if (command.commands.length > 0) return { ...nothing, words: starting(verbsOf(command), last) };
  const argument = command.registeredArguments[positions];
  if (argument === undefined) return nothing;
  const wanted = ofPlaceholder(argument.name(), command, last, org);
  return wanted.names === null ? wanted : { ...wanted, names: { ...wanted.names, dashes: ended } };
}

interface Reached {
  command: Command;
  /** The option whose value comes next. */
  awaited: Option | null;
  /** The number of arguments so far. */
  positions: number;
  org: string | undefined;
  /** The words so far contain `--`, so no later word is an option. */
  ended: boolean;
}

function walk(program: Command, words: readonly string[]): Reached {
  const at: Reached = {
    command: program,
    awaited: null,
    positions: 0,
    org: undefined,
    ended: false,
  };
  for (const word of words) {
    if (at.awaited !== null) {
      if (at.awaited.long === '--org') at.org = word;
      at.awaited = null;
      continue;
    }
    if (word === '--' && !at.ended) {
      at.ended = true;
      continue;
    }
    if (word.startsWith('-') && !at.ended) {
      const [name, value] = word.split('=', 2);
      if (name === '--org' && value !== undefined) at.org = value;
      const option = optionsOf(at.command).find(
        ({ long, short }) => long === name || short === name,
      );
      if (value === undefined && option !== undefined && takesValue(option)) at.awaited = option;
      continue;
    }
    const next = findCommand(at.command, word);
    if (next === undefined) at.positions += 1;
    else at.command = next;
  }
  return at;
}

function optionsOf(command: Command): Option[] {
  return [...command.options, ...(command.parent === null ? [] : optionsOf(command.parent))];
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

function flagsOf(command: Command): NamedThing[] {
  const own = optionsOf(command).map(({ long, description }) => ({
    value: long ?? '',
    about: description,
  }));
  return [...own, { value: '--help', about: 'show this help' }];
}

function verbsOf(command: Command): NamedThing[] {
  // Of the aliases, only those of nouns are offered, because they are the better names.
  const names = (one: Command) =>
    command.parent === null ? [one.name(), ...one.aliases()] : [one.name()];
  return command.commands.flatMap((one) =>
    names(one).map((value) => ({ value, about: one.description() })),
  );
}

function starting(words: NamedThing[], begin: string): NamedThing[] {
  return words.filter(({ value }) => value.startsWith(begin));
}

/** The values of options, if their placeholder does not list the values. */
const choices: Record<string, string[]> = {
  '--absent-groups': ['unknown', 'none'],
  '--org-role': ['member', 'admin'],
  '--restrict-oauth-to-verified-domains': ['on', 'off'],
};

function ofOption(
  option: Option,
  command: Command,
  begin: string,
  org: string | undefined,
): Wanted {
  const placeholder = /<(.+?)(?:\.\.\.)?>/.exec(option.flags)?.[1] ?? '';
  const known =
    choices[option.long ?? ''] ?? (placeholder.includes('|') ? placeholder.split('|') : null);
  if (known !== null) return ofChoices(known, begin);
  return ofPlaceholder(placeholder, command, begin, org);
}

function ofChoices(known: string[], begin: string): Wanted {
  return {
    ...nothing,
    words: starting(
      known.map((value) => ({ value, about: '' })),
      begin,
    ),
  };
}

const kinds: readonly string[] = ['org', 'user', 'domain', 'project'] satisfies Kind[];

function isKind(placeholder: string): placeholder is Kind {
  return kinds.includes(placeholder);
}

function ofPlaceholder(
  placeholder: string,
  command: Command,
  begin: string,
  org: string | undefined,
): Wanted {
  const noun = command.parent?.name() ?? '';
  if (placeholder === 'file' || placeholder === 'dir') return { ...nothing, files: true };
  if (placeholder === 'kind') return { ...nothing, events: begin };
  if (placeholder === 'shell') return ofChoices(['bash', 'zsh', 'fish'], begin);
  if (placeholder === 'role') {
    const inProject = ['project-member', 'mappings', 'client'].includes(noun);
    return ofChoices(
      inProject ? ['viewer', 'commenter', 'member', 'admin'] : ['member', 'admin', 'owner'],
      begin,
    );
  }
  // `member add` and `client test` name an existing account; `domain add` and other `email`
  // arguments name something new.
  const isAccount = noun === 'member' || noun === 'client';
  const meant = placeholder === 'email' && isAccount ? 'user' : placeholder;
  if (!isKind(meant) || (meant === 'domain' && command.name() === 'add')) return nothing;
  return { ...nothing, names: { kind: meant, begin, org, dashes: true } };
}
