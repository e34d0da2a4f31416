import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The settings that `bin/idctl` gives a daemon, as environment variables. A peer gets them too. */
export const asInstalled = {
  UV_THREADPOOL_SIZE: '8',
  MALLOC_ARENA_MAX: '1',
  NODE_OPTIONS: '--max-semi-space-size=4',
};

/** A separate process that a benchmark measures. */
export interface Peer {
  url: string;
  stop(): Promise<void>;
}

/** Starts the bare Express server. */
export function startHello(): Promise<Peer> {
  return start(new URL('./hello.ts', import.meta.url));
}

/** Starts the Express server that checks one password. */
export function startVerify(): Promise<Peer> {
  return start(new URL('./verify.ts', import.meta.url));
}

async function start(program: URL): Promise<Peer> {
  const child = spawn(process.execPath, [fileURLToPath(program)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...asInstalled },
  });
  const [{ port }] = await once(child, 'message');
  return { url: `http://127.0.0.1:${port}`, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
