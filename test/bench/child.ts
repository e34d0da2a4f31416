import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of its own that a benchmark measures. */
export interface Peer {
  url: string;
  stop(): Promise<void>;
}

/** Starts the bare Express server. */
export async function startHello(): Promise<Peer> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./hello.ts', import.meta.url))], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ port }] = await once(child, 'message');
  return { url: `http://127.0.0.1:${port}`, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
