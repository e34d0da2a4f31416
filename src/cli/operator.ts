import { existsSync } from 'node:fs';
import type { LoadedConfig, LoadOptions } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { type App, type Context, openContext } from '../context.ts';
import { Refusal } from '../errors.ts';
import type { Flags } from './flags.ts';
import { becomeOwnerOf, databaseFile, operatorName } from './owner.ts';

/** The app, opened for one command, and the operator's contexts in it. */
export interface Operator {
  app: App;
  /** Runs the work at this instant, and turns errors of the platforms into refusals. */
  run<T>(work: (ctx: Context) => Promise<T>): Promise<T>;
}

/** Reads the configuration from the command line, the environment and the file. */
export async function readConfiguration(
  flags: Pick<Flags, 'config'>,
  more: Partial<LoadOptions> = {},
): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  return loadConfig({
    file: flags.config,
    env: process.env,
    uid: process.getuid?.() ?? -1,
    ...more,
  });
}

/** Switches root to the owner of an embedded database, permanently (security X8). */
export function becomeDatabaseOwner({ config }: LoadedConfig): void {
  const file = databaseFile(config.database.url);
  if (file !== null) becomeOwnerOf(file);
}

/**
 * Whether no process has the embedded database open; false if that is unknown. Must be asked before
 * it is opened.
 */
export function isDatabaseIdle({ config }: LoadedConfig): boolean {
  const file = databaseFile(config.database.url);
  // SQLite keeps the WAL file while a process has the database open; the last process to close it
  // removes it.
  return file !== null && existsSync(file) && !existsSync(`${file}-wal`);
}

/**
 * Opens the instance as its operator. With `migrated`, it first migrates the database, and
 * `migrated` gets each migration's name.
 */
export async function openOperator(
  loaded: LoadedConfig,
  migrated?: (name: string) => void,
): Promise<Operator> {
  const { openApp } = await import('../app.ts');
  const name = operatorName();
  if (migrated === undefined) requireDatabaseFile(loaded);
  becomeDatabaseOwner(loaded);
  const { log } = loaded.config;
  const config = { ...loaded.config, log: { ...log, level: quieter(log.level) } };
  const app = await openApp(
    { config },
    migrated === undefined ? { migrate: 'refuse-pending' } : { migrate: 'yes', migrated },
  );
  return {
    app,
    run: async (work) => {
      try {
        return await work(openContext(app, { kind: 'operator', name }));
      } catch (error) {
        throw told(app, error);
      }
    },
  };
}

/**
 * Turns an error into its refusal. A bug goes to the log with its cause, because its message is not
 * shown.
 */
function told({ refusalOf, log }: App, error: unknown): unknown {
  const refusal = error instanceof Refusal ? error : refusalOf(error);
  if (refusal === null) log.error({ err: error }, 'bug');
  return refusal ?? error;
}

/**
 * Opening creates a missing SQLite file. But a mistyped path, or a disk that is not mounted, must
 * not become an empty instance.
 */
export function requireDatabaseFile({ config }: LoadedConfig): void {
  const file = databaseFile(config.database.url);
  if (file === null || existsSync(file)) return;
  throw new Refusal('not_ready', `There is no database at ${file}.`, {
    hint: 'If there was one, put it back or restore a backup. For a new instance: idctl init',
  });
}

/** A command prints its own answer, so the log needs only warnings and errors. */
function quieter(level: Config['log']['level']): Config['log']['level'] {
  return level === 'info' ? 'warn' : level;
}
