import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { type Context, openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { initialize } from '../../src/services/instance/setup/initialize.ts';
import { type Daemon, program, startDaemon, surroundings } from './daemon.ts';
import { sqliteDriver } from './sqlite-driver.ts';

/** The base URL of all daemons of an installation, whatever port they listen on. */
export const baseUrl = 'http://127.0.0.1:8420';

/**
 * An instance with an organization `acme` and its owner, for commands and daemons in other
 * processes.
 */
export interface Installation {
  folder: string;
  keyFile: string;
  database: string;
  owner: { email: string; password: string };
  /** Runs one command to its end; `more` adds environment variables. */
  run(
    words: string[],
    input?: string,
    more?: Record<string, string>,
  ): Promise<{ code: number | null; out: string; err: string }>;
  /** Starts a daemon, by default on a free port. All daemons have the same base URL. */
  serve(more?: Record<string, string>, port?: number): Promise<Daemon>;
  /** Runs SQL directly on the instance's database, or on another. */
  query(sql: string, other?: string): Promise<Record<string, unknown>[]>;
  /** Stops its daemons and removes its folder. */
  close(): Promise<void>;
}

interface InstallOptions {
  /** Further environment variables for its commands and daemons. */
  env?: Record<string, string>;
  /** An empty database to use instead of a fresh one of the run. */
  database?: string;
  /** The words that start the program; by default, the program under test. */
  program?: readonly string[];
  /** Prepares the instance as the operator, in this process. */
  prepare?: (operator: () => Context) => Promise<unknown>;
}

/** Creates an instance, and closes it in this process, which can have only one open at a time. */
export async function install(options: InstallOptions = {}): Promise<Installation> {
  const { env = {}, prepare } = options;
  const folder = await mkdtemp(join(tmpdir(), 'idctl-install-'));
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const database = options.database ?? (await freshDatabase());
  const owner = await found({ database, keyFile }, prepare);
  const daemons: Daemon[] = [];
  return {
    folder,
    keyFile,
    database,
    owner,
    run: (words, input, more) =>
      runCommand(
        [...(options.program ?? program), ...words],
        { IDCTL_DATABASE: database, IDCTL_KEY_FILE: keyFile, ...env, ...more },
        input,
      ),
    serve: async (more, port) => {
      const daemon = await startDaemon({
        ...(options.program && { program: options.program }),
        database,
        keyFile,
        env: { IDCTL_BASE_URL: baseUrl, ...env, ...more },
        keepLog: true,
        ...(port === undefined ? {} : { port }),
      });
      daemons.push(daemon);
      return daemon;
    },
    query: (sql, other = database) => query(other, sql),
    close: async () => {
      await Promise.all(daemons.map((daemon) => daemon.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// Imported only here: a benchmark has its own database, and cannot load Vitest's context.
const freshDatabase = async () => (await import('./database.ts')).migratedDatabaseUrl();

async function found(
  at: { database: string; keyFile: string },
  prepare: InstallOptions['prepare'],
) {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const database = { ...settings.database, url: at.database, sqliteDriver };
  const config = { ...settings, baseUrl, keyFile: at.keyFile, database };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = () => openContext(app, { kind: 'operator', name: 'test' });
  try {
    const { owner } = await initialize(operator(), {
      organization: 'Acme',
      owner: 'olga@acme.test',
    });
    await prepare?.(operator);
    return { email: owner.email ?? '', password: owner.password ?? '' };
  } finally {
    await app.close();
  }
}

async function runCommand(
  [program = '', ...words]: string[],
  env: Record<string, string>,
  input = '',
) {
  const child = spawn(program, words, { env: { ...surroundings(), ...env } });
  const outputs = [text(child.stdout), text(child.stderr)] as const;
  child.stdin.on('error', () => undefined).end(input);
  const [code] = await once(child, 'close');
  const [out, err] = await Promise.all(outputs);
  return { code, out, err };
}

async function query(database: string, sql: string): Promise<Record<string, unknown>[]> {
  const file = /^sqlite:(.*)/.exec(database)?.[1];
  if (file !== undefined) {
    const sqlite = new DatabaseSync(file, { readOnly: true });
    const rows = sqlite.prepare(sql).all();
    sqlite.close();
    return rows;
  }
  const client = new pg.Client(database);
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}
