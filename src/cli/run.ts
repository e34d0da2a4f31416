import type { z } from 'zod';
import type { App, Context } from '../context.ts';
import { parse } from '../input.ts';
import type { Flags } from './flags.ts';
import { type Fields, printBlock, printJson, printTable, standardOutput } from './output.ts';
import { becomeOwner, operatorName } from './owner.ts';
import { confirmed } from './prompt.ts';

/** A service as a door sees it. */
type Service<Input, View> = (ctx: Context, input: Input) => Promise<View>;

/** A page of a list. */
interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** One command being run: what was typed, and what it may do. */
export interface Call {
  /** Arguments and options by their names. */
  readonly input: Record<string, unknown>;
  readonly flags: Flags;
  /** Checks the input, then runs the service as the operator. */
  operate<S extends z.ZodType, View>(
    schema: S,
    service: Service<z.output<S>, View>,
    input?: Record<string, unknown>,
  ): Promise<View>;
  /** Runs a listing service until it has given its last page. */
  every<S extends z.ZodType, Item>(schema: S, service: Service<z.output<S>, Page<Item>>): Promise<Item[]>;
  /** Prints one view as the command's result. */
  show<View>(view: View, fields: Fields<View>): void;
  /** Prints a list as the command's result; `none` tells a person that it is empty. */
  table<View>(views: View[], fields: Fields<View>, none: string): void;
  /** Tells a person something that is not a result. */
  note(text: string): void;
  /** Asks before something cannot be undone, unless `--yes` has answered. */
  confirm(question: string): Promise<void>;
  /** Closes what the command opened. */
  end(): Promise<void>;
}

/** Begins a command; the database is opened when a service is first run, after its input has been checked. */
export function beginCall(flags: Flags, input: Record<string, unknown>): Call {
  let opened: Promise<Operator> | undefined;
  const screen = standardOutput();
  const note = (text: string): void => {
    if (!flags.quiet) process.stderr.write(`${text}\n`);
  };
  const operate: Call['operate'] = async (schema, service, given = input) => {
    const checked = parse(schema, given);
    opened ??= openOperator(flags);
    const { app, context } = await opened;
    try {
      return await service(context(), checked);
    } catch (error) {
      throw app.refusalOf(error) ?? error;
    }
  };
  return {
    input,
    flags,
    note,
    operate,
    every: (schema, service) => {
      return everyPage((cursor) => operate(schema, service, { ...input, limit: 200, ...cursor }));
    },
    show: (view, fields) => (flags.json ? printJson(view, screen) : printBlock(view, fields, screen)),
    table: (views, fields, none) => {
      if (flags.json) printJson(views, screen);
      else if (views.length > 0) printTable(views, fields, screen);
      else note(none);
    },
    confirm: async (question) => {
      if (!flags.yes) await confirmed(question);
    },
    end: async () => {
      const operator = await opened?.catch(() => undefined);
      await operator?.app.close();
    },
  };
}

/** The App, opened for one command, and the operator's contexts in it. */
interface Operator {
  app: App;
  /** A context of this instant. */
  context: () => Context;
}

async function openOperator(flags: Flags): Promise<Operator> {
  const [{ openApp, operatorContext }, { loadConfig }] = await Promise.all([
    import('../app.ts'),
    import('../config/load.ts'),
  ]);
  const loaded = await loadConfig({ file: flags.config });
  const name = operatorName();
  becomeOwner(loaded.config.database.url);
  const app = await openApp(loaded);
  return { app, context: () => operatorContext(app, name) };
}

async function everyPage<Item>(read: (at: { cursor?: string }) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  for (let at: { cursor?: string } | null = {}; at !== null; ) {
    const page: Page<Item> = await read(at);
    items.push(...page.items);
    at = page.nextCursor === null ? null : { cursor: page.nextCursor };
  }
  return items;
}
