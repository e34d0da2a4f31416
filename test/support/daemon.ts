import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from './ports.ts';
import { mainOfRun } from './run-release.ts';
import { driverSetting } from './sqlite-driver.ts';

/** The main file of the program: in the release of the run, or in the checkout. */
export const main = mainOfRun();

/**
 * The words that run a command as `bin/idctl` does: Node, with room for the objects that a command
 * creates while it loads, and the program.
 */
export const program = [
  process.execPath,
  '--min-semi-space-size=32',
  '--max-semi-space-size=32',
  main,
] as const;

/** The words of `program`, quoted for a shell. */
export const typedProgram = program.map((word) => `'${word}'`).join(' ');

/** The real daemon, in its own process. */
export interface Daemon {
  url: string;
  pid: number;
  /** Sends a message to the preloaded module. */
  tell(message: string): void;
  /** Sends a message and returns the answer. */
  ask(message: string): Promise<unknown>;
  /** The log so far; empty unless `keepLog` is set. */
  log(): string;
  hasEnded(): boolean;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

interface DaemonOptions {
  /** The words that start the program; by default, Node with `main`. */
  program?: readonly string[];
  database: string;
  keyFile: string;
  /** Further environment variables. */
  env?: Record<string, string>;
  /** The port on 127.0.0.1; by default, a free port. */
  port?: number;
  /** A module that is loaded before the daemon. */
  preload?: string;
  /** Keeps the daemon's log. By default it is discarded. */
  keepLog?: true;
}

/** Starts `idctl serve` and waits until it is ready. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { database, keyFile, env = {}, preload } = options;
  const [port] = options.port === undefined ? await freePorts(1) : [options.port];
  const url = `http://127.0.0.1:${port}`;
  const flags = preload === undefined ? [] : ['--import', preload];
  const [file = '', ...words] = options.program ?? [process.execPath, ...flags, main];
  const settings = { IDCTL_DATABASE: database, IDCTL_KEY_FILE: keyFile, IDCTL_BASE_URL: url };
  const child = spawn(file, [...words, 'serve', '--listen', `127.0.0.1:${port}`], {
    env: { ...surroundings(), ...settings, ...env },
    stdio: [
      'ignore',
      ...(options.keepLog ? (['pipe', 'pipe'] as const) : (['ignore', 'ignore'] as const)),
      'ipc',
    ],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part) => {
      log += part;
    });
  }
  const ended = once(child, 'exit');
  await untilReady(url, () => (child.exitCode === null ? null : `${child.exitCode} ${log}`));
  return {
    url,
    pid: child.pid ?? 0,
    log: () => log,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    tell: (message) => child.send(message),
    async ask(message) {
      child.send(message);
      return (await once(child, 'message'))[0];
    },
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

/** The environment of a started process: the PATH and the SQLite driver, and no other setting. */
export function surroundings(): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, ...driverSetting };
}

/** Waits until the daemon is ready; throws if it has ended. */
export async function untilReady(url: string, ended: () => string | null): Promise<void> {
  for (;;) {
    if (ended() !== null) throw new Error(`the daemon ended with ${ended()}`);
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
    await pause(50);
  }
}
