import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from './ports.ts';

/** The real daemon, as a process of its own. */
export interface Daemon {
  url: string;
  pid: number;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
}

/** What a daemon is started with; `env` holds more settings. */
interface DaemonOptions {
  database: string;
  keyFile: string;
  env?: Record<string, string>;
}

/** Starts `idctl serve` on a free port; settles when it is ready. */
export async function startDaemon({ database, keyFile, env = {} }: DaemonOptions): Promise<Daemon> {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const main = resolve(import.meta.dirname, '../../src/main.ts');
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [main, 'serve', '--listen', `127.0.0.1:${port}`], {
    env: {
      PATH,
      IDCTL_DATABASE: database,
      IDCTL_KEY_FILE: keyFile,
      IDCTL_BASE_URL: url,
      IDCTL_LOG_LEVEL: 'fatal',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  await untilReady(url, () => child.exitCode);
  return {
    url,
    pid: child.pid ?? 0,
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
