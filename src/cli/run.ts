import type { z } from 'zod';
import type { LoadedConfig } from '../config/load.ts';
import type { Context } from '../context.ts';
import type { Ending } from '../services/foundation/ending.ts';
import { escaped } from '../text/escape.ts';
import { sentences } from '../text/words.ts';
import { commandText, here, nameInstance } from './next.ts';
import type { Flags } from './operator.ts';
import {
  type Fields,
  printBlock,
  printJson,
  printLine,
  printTable,
  standardOutput,
} from './output.ts';
import { withProgress } from './progress.ts';
import { confirmed } from './prompt.ts';
import { type Examination, failedResult, printSteps } from './steps.ts';

type Input = Record<string, unknown>;

/** An operation as its callers see it: the schema of its input, and the function that runs it. */
export interface Runs<View> {
  (ctx: Context, input: never): Promise<View>;
  /** For an operation that must not start inside a transaction: runs it, and rolls it back. */
  readonly rehearse?: (ctx: Context, input: never) => Promise<View>;
  readonly input: z.ZodType<object>;
  /** The schema of the view: the fields that are shown, in their order. */
  readonly output?: z.ZodType | undefined;
  /** For an operation on any account: its variant for the caller's own account. */
  readonly forPeople?: object;
  /** What it ends, for an operation that people confirm. */
  readonly ends?: Ending<View, never>;
}

/** Runs operations: in this process as the operator, or on a remote server as an account. */
export interface CommandDoor {
  /** The URL of the remote server; null on the host. */
  readonly server: string | null;
  /** The configuration of the instance on this host, read once. */
  configuration(): Promise<LoadedConfig>;
  /** Checks the input, then runs the operation. */
  operate<View>(operation: Runs<View>, input: Input): Promise<View>;
  /** Like `operate`, but rolls the operation back. */
  rehearse<View>(operation: Runs<View>, input: Input): Promise<View>;
  close(): Promise<void>;
}

/** A page of a list. */
interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
  /** Set by lists that always have a next cursor. */
  hasMore?: boolean;
}

/** What a person reads about an action that needs confirmation, besides its `ends`. */
interface Destruction<View> {
  fields: Fields<View>;
  /** The input to use instead of the typed one. */
  input?: Input;
  /** Lines to print before the question. */
  details?: (view: View) => string[];
  /** A sentence at the end of the question. */
  warning?: string;
  /** The words of an operation that has none of its own. */
  ends?: Ending<View, never>;
}

type Reads<View> = (view: View) => string;

/** One running command: its input, and the actions that it may take. */
export interface Call {
  /** Arguments and options by their names. */
  readonly input: Input;
  readonly flags: Flags;
  /** The option that sets the field; the name of the field if there is none. */
  typed(field: string): string;
  /** The URL of the remote server; null on the host. */
  readonly server: string | null;
  /**
   * The configuration of the instance on this host. It is read once, because the owner to whom root
   * switches may not be able to read it.
   */
  configuration(): Promise<LoadedConfig>;
  /** Checks the input, then runs the operation. */
  operate<View>(operation: Runs<View>, input?: Input): Promise<View>;
  /** Runs an operation with all its refusals, and rolls it back. */
  rehearse<View>(operation: Runs<View>, input?: Input): Promise<View>;
  /** Runs a list operation until its last page. */
  every<Item>(operation: Runs<Page<Item>>, input?: Input): Promise<Item[]>;
  /** Runs a list operation and prints the list, or `none` if the list is empty. */
  list<Item>(
    operation: Runs<Page<Item>>,
    fields: Fields<Item>,
    none: string,
    input?: Input,
  ): Promise<void>;
  /** Prints one view as the command's result. */
  show<View>(view: View, fields: Fields<View>): void;
  /** Prints a view with a secret that is shown only once; with `--quiet`, only the secret. */
  showSecret<View>(view: View, fields: Fields<View>, secret: Reads<View>, advice?: string): void;
  /** Prints a list as the command's result, or `none` if the list is empty. */
  table<View>(views: View[], fields: Fields<View>, none: string): void;
  /** Prints one view of a stream on one line. */
  line<View>(view: View, fields: Fields<View>): void;
  /** Prints an examination as the command's result; the exit code is 1 if a step failed. */
  examination(view: Examination): void;
  /** Prints a note on stderr, unless `--quiet` is set. */
  note(text: string): void;
  /** Completes a suggested command with `--config` or `--server`, to name the same instance. */
  here(command: string): string;
  /** Asks for confirmation, unless `--yes` is set. Enter means no, unless `usual` is set. */
  confirm(question: string, usual?: boolean): Promise<void>;
  /** Runs an operation and shows its view. A dry run shows it too, and rolls the operation back. */
  perform<View>(operation: Runs<View>, fields: Fields<View>, input?: Input): Promise<View>;
  /** Rehearses an operation, asks for confirmation and runs it. A dry run shows only its view. */
  destroy<View>(operation: Runs<View>, telling: Destruction<View>): Promise<void>;
  /** Prints text as the command's result. */
  print(text: string): void;
  /** Closes the connections of the command. */
  end(): Promise<void>;
}

/** Begins a command. On the host, its first operation opens the database, if its input is valid. */
export function beginCall(line: Pick<Call, 'input' | 'flags' | 'typed'>, door: CommandDoor): Call {
  const { flags, input } = line;
  nameInstance(flags);
  const speech = speak(flags);
  const operate: Call['operate'] = (operation, given = input) =>
    withProgress(() => door.operate(operation, given), !flags.quiet);
  const every: Call['every'] = (operation, given = input) =>
    everyPage((at) => operate(operation, { ...given, limit: 200, ...at }));
  const rehearsed: typeof operate = (operation, given = input) =>
    withProgress(() => door.rehearse(operation, given), !flags.quiet);
  const showRehearsed = <View>(view: View, fields: Fields<View>): void => {
    speech.note('Dry run: nothing was changed.');
    speech.show(view, fields);
  };
  return {
    ...speech,
    ...line,
    server: door.server,
    configuration: door.configuration,
    operate,
    here,
    every,
    list: async (operation, fields, none, given) =>
      speech.table(await every(operation, given), fields, none),
    rehearse: rehearsed,
    perform: async (operation, fields, given = input) => {
      const view = await (flags.dryRun ? rehearsed : operate)(operation, given);
      if (flags.dryRun) showRehearsed(view, fields);
      else speech.show(view, fields);
      return view;
    },
    destroy: async (operation, telling) => {
      const { fields, details, warning = '', input: given = input } = telling;
      const ends = telling.ends ?? operation.ends;
      if (ends === undefined) throw new Error('the operation does not say what it ends');
      // `operate` has checked this input with the schema of the operation.
      const asked = () => operation.input.parse(given) as never;
      const foreseen = await rehearsed(operation, given);
      if (flags.dryRun) return showRehearsed(foreseen, fields);
      for (const line of details?.(foreseen) ?? []) speech.note(line);
      const effects = ends.effects?.(foreseen, asked()) ?? [];
      await speech.confirm(sentences([ends.ask(foreseen, asked()), ...effects, warning]));
      const view = await operate(operation, given);
      if (flags.json) speech.show(view, fields);
      speech.note(commandText(ends.done(view, asked())));
    },
    end: () => door.close(),
  };
}

/** The fields that the view has: a connection has only those of its kind. */
function fieldsIn<View>(view: View, fields: Fields<View>): Fields<View> {
  return fields.filter(([, value]) => value(view) !== undefined);
}

/** The output functions of a command. */
function speak(
  flags: Flags,
): Pick<
  Call,
  'note' | 'show' | 'showSecret' | 'table' | 'line' | 'examination' | 'confirm' | 'print'
> {
  const screen = standardOutput();
  const note = (text: string): void => {
    if (!flags.quiet) process.stderr.write(`${text.split('\n').map(escaped).join('\n')}\n`);
  };
  const show: Call['show'] = (view, fields) => {
    if (flags.json) printJson(view, screen);
    else printBlock(view, fieldsIn(view, fields), screen);
  };
  return {
    note,
    show,
    showSecret: (view, fields, secret, advice = 'Store the secret now: it is not shown again.') => {
      if (flags.quiet && !flags.json) return screen.write(`${escaped(secret(view))}\n`);
      show(view, fields);
      note(advice);
    },
    table: (views, fields, none) => {
      if (flags.json) printJson(views, screen);
      else if (views.length === 0) note(none);
      else printTable(views, fields, screen);
    },
    line: (view, fields) => {
      if (flags.json) screen.write(`${escaped(JSON.stringify(view))}\n`);
      else printLine(view, fields, screen);
    },
    examination: (view) => {
      if (flags.json) printJson(view, screen);
      else printSteps(view, screen);
      if (!view.ok) throw failedResult();
    },
    // A file gets the exact text. On a terminal, control characters are escaped.
    print: (text) =>
      screen.write(
        Number.isFinite(screen.columns) ? text.split('\n').map(escaped).join('\n') : text,
      ),
    confirm: async (question, usual) => {
      if (!flags.yes) await confirmed(escaped(question), usual);
    },
  };
}

async function everyPage<Item>(
  read: (at: { cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let at: { cursor?: string } | null = {}; at !== null; ) {
    const page: Page<Item> = await read(at);
    items.push(...page.items);
    at = page.nextCursor === null || page.hasMore === false ? null : { cursor: page.nextCursor };
  }
  return items;
}
