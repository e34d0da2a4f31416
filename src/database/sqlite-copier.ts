import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Copied, Copying } from './sqlite-copy.ts';

// Copies a file in a thread: the driver is synchronous, and a large copy would block the process.

// The code that starts the thread passes this data.
const { from, to } = workerData as Copying;
parentPort?.postMessage(copied());

function copied(): Copied {
  const database = new DatabaseSync(from, { timeout: 5000 });
  try {
    database.prepare('VACUUM INTO ?').run(to);
    return {};
  } catch (error) {
    const errcode = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
    return { errcode, message: String(error) };
  } finally {
    database.close();
  }
}
