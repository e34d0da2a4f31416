import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from './ports.ts';

/** The real daemon, as a process of its own. */
export interface Daemon {
  url: string;
  pid: number;
  /** Sends a message to what was preloaded. */
  tell(message: string): void;
  /** Sends a message, and its answer. */
  ask(message: string): Promise<unknown>;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
}

interface DaemonOptions {
  database: string;
  keyFile: string;
  /** More settings. */
  env?: Record<string, string>;
  /** A module that is loaded before the daemon. */
  preload?: string;
}

/** Starts `idctl serve` on a free port; settles when it is ready. Its log goes nowhere. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { database, keyFile, env = {}, preload } = options;
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const main = resolve(import.meta.dirname, '../../src/main.ts');
  const flags = preload === undefined ? [] : ['--import', preload];
  const { PATH = '' } = process.env;
  const settings = { IDCTL_DATABASE: database, IDCTL_KEY_FILE: keyFile, IDCTL_BASE_URL: url };
  const child = spawn(process.execPath, [...flags, main, 'serve', '--listen', `127.0.0.1:${port}`], {
    env: { PATH, ...settings, ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  await untilReady(url, () => child.exitCode);
  return {
    url,
    pid: child.pid ?? 0,
    tell: (message) => child.send(message),
    async ask(message) {
      child.send(message);
      return (await once(child, 'message'))[0];
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

async function untilReady(url: string, exitCode: () => number | null): Promise<void> {
  for (;;) {
    if (exitCode() !== null) throw new Error(`the daemon ended with ${exitCode()}`);
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
    await pause(50);
  }
}
