import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { OpenOptions } from '../app.ts';
import type { LoadedConfig, LoadOptions } from '../config/load.ts';
import { searchedFiles } from '../config/paths.ts';
import { hasUnit } from '../config/unit-credentials.ts';
import { type App, type Context, openContext } from '../context.ts';
import { Refusal } from '../errors.ts';
import { codeOf, fileFault, isMissing } from '../host/file-fault.ts';
import { asTyped } from '../host/typed-program.ts';
import { here } from './next.ts';

/** The options that commands share. */
export interface Flags {
  /** Print results and refusals as JSON. */
  json: boolean;
  /** Print nothing but results and refusals. */
  quiet: boolean;
  /** Do not ask for confirmation. */
  yes: boolean;
  /** Only show what would happen. */
  dryRun: boolean;
  /** Show an existing object instead of refusing a duplicate. */
  ifAbsent: boolean;
  /** The configuration file, if the command line names one. */
  config: string | undefined;
  /** The server, by URL or name, if the command line names one. */
  server: string | undefined;
}

/** The app that one command opens, with contexts for the operator. */
export interface Operator {
  app: App;
  /** Runs `work` with the current time, and turns errors of database and system into refusals. */
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

/** Switches root to the owner of the instance, permanently (security X8). */
export function becomeInstanceOwner(loaded: LoadedConfig): void {
  becomeOwnerOf(ownedFile(loaded));
}

/** The user id of the owner of the instance. */
export function instanceOwner(loaded: LoadedConfig): number {
  return ownerOf(ownedFile(loaded)).uid;
}

/**
 * The file whose owner is the owner of the instance: the SQLite database. With PostgreSQL it is the
 * key file, as only its owner can read it.
 */
function ownedFile({ config }: LoadedConfig): string {
  return databaseFile(config.database.url) ?? config.keyFile;
}

/** Whether no process has the embedded database open, as far as known. Call before opening it. */
export function isDatabaseIdle({ config }: LoadedConfig): boolean {
  const file = databaseFile(config.database.url);
  // SQLite keeps the WAL file while a process has the database open. The last process to close the
  // database removes the file.
  return file !== null && existsSync(file) && !existsSync(`${file}-wal`);
}

/** Opens the instance as its operator. With `migrating`, applies pending migrations first. */
export async function openOperator(
  loaded: LoadedConfig,
  migrating?: Pick<OpenOptions, 'besideOthers' | 'migrated'>,
): Promise<Operator> {
  const { openApp } = await import('../app.ts');
  const name = operatorName();
  if (migrating === undefined) requireDatabaseFile(loaded);
  becomeInstanceOwner(loaded);
  const { log } = loaded.config;
  // A command prints its own answer, so by default the log has only warnings and errors.
  const level = log.level === 'info' ? 'warn' : log.level;
  const config = { ...loaded.config, log: { ...log, level } };
  const app = await openApp(
    { config },
    migrating === undefined ? { migrate: 'refuse-pending' } : { migrate: 'yes', ...migrating },
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

/** Turns an error into its refusal. Logs a bug and returns it unchanged. */
function told({ refusalOf, log }: App, error: unknown): unknown {
  const refusal = error instanceof Refusal ? error : refusalOf(error);
  if (refusal === null) log.error({ err: error }, 'bug');
  return refusal ?? error;
}

/**
 * Refuses a missing SQLite file: opening would create it, so a typo would create an empty instance.
 */
export function requireDatabaseFile({ config }: LoadedConfig): void {
  const file = databaseFile(config.database.url);
  if (file === null || existsSync(file)) return;
  throw new Refusal('not_ready', `There is no database at ${file}.`, {
    hint: {
      technical: `If the database is lost, restore a backup. For a new instance: ${here('idctl init')}. For a remote server: ${asTyped('idctl login URL')}`,
    },
  });
}

/**
 * Refuses to start a daemon before `idctl init`. The exit code 2 keeps systemd from starting it
 * again and again.
 */
export function requireSetUp({ config, file, origins }: LoadedConfig): void {
  const database = databaseFile(config.database.url);
  const isGiven = file !== null || origins.get('database.url') !== 'default';
  if (isGiven || database === null || existsSync(database)) return;
  const [own = '', system = ''] = searchedFiles(process.env);
  throw new Refusal('config_invalid', `idctl is not set up: ${own} and ${system} do not exist.`, {
    hint: {
      technical: `${hasUnit(process.env) ? 'As root, run' : 'Run'}: ${asTyped('idctl init')}`,
    },
  });
}

interface Owner {
  uid: number;
  gid: number;
}

/** The operator's name in the events that this command writes. */
export function operatorName(): string {
  const invoker = process.env['SUDO_USER'];
  if (invoker) return invoker;
  try {
    return userInfo().username;
  } catch {
    // In a container, the user id may not have a name.
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}

/** The file of an embedded database; null for a database server. */
export function databaseFile(url: string): string | null {
  return /^sqlite:(.+)$/.exec(url)?.[1] ?? null;
}

/**
 * Switches root permanently to the owner of the file, or of the nearest folder above it. Otherwise
 * the daemon could not read files that root writes there (security X8).
 */
export function becomeOwnerOf(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = ownerOf(file);
  if (uid === 0) return;
  process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/**
 * Creates the folder of a new database if it is missing. Then switches root to the owner of the
 * instance.
 */
export async function becomeOwnerWith(loaded: LoadedConfig, newFile: string): Promise<void> {
  const folder = dirname(newFile);
  if (!existsSync(folder)) await createFolder(folder, ownerOf(ownedFile(loaded)));
  becomeInstanceOwner(loaded);
}

/**
 * Creates the folder if it is missing, and those above it. Root gives them to `owner`. If `owner`
 * is null, new folders get the owner of the folder above. Refuses with `conflict` if one cannot be
 * created.
 */
export async function createFolder(path: string, owner: Owner | null): Promise<void> {
  const inherited = ownerOf(path);
  const missing: string[] = [];
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder))
    missing.unshift(folder);
  for (const folder of missing) await createOne(folder);
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = owner ?? inherited;
  for (const folder of owner === null ? missing : [...missing, path]) await chown(folder, uid, gid);
}

// Not with `recursive`: below /proc, Node would retry forever.
async function createOne(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    // Another command may have created it in the meantime.
    if (codeOf(cause) === 'EEXIST') return;
    const above = dirname(folder);
    const why = isMissing(cause) ? 'cannot contain folders' : fileFault(cause, 'written');
    throw new Refusal('conflict', `The folder ${folder} cannot be created: ${above} ${why}.`, {
      hint: 'Name a folder that the user can write, or create the folder first.',
      cause,
    });
  }
}

/** The user of this name; null if the system has none. */
export function findUser(name: string): Owner | null {
  const ask = (what: string): number =>
    Number(execFileSync('id', [what, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return null;
  }
}

/** The owner of the path, or of the nearest folder above it that exists. */
export function ownerOf(path: string): Owner {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ?? ownerOf(dirname(path));
}
