import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { ReaderQuestion, Told } from './select-within.ts';

// Reads the file in a thread on its own handle. The driver is synchronous, so a full scan would
// block other queries. SQLite cannot be interrupted here, but a query that calls `in_time()` for
// each row gives up.

let deadline = 0;
// Not opened read-only, because that fails if no other process has the file open.
const database = new DatabaseSync(String(workerData), { timeout: 1000 });
database.exec('PRAGMA query_only = ON');
database.function('in_time', () => {
  if (Date.now() > deadline) throw new Error('out of time');
  return 1;
});

parentPort?.on('message', ({ id, query, until }: ReaderQuestion) => {
  deadline = until;
  parentPort?.postMessage({ id, ...answer(query) } satisfies Told);
});

function answer({ sql, bind }: ReaderQuestion['query']): Omit<Told, 'id'> {
  try {
    const named = Object.fromEntries(bind.map((value, at) => [`$${at + 1}`, value]));
    return { rows: database.prepare(sql).all(named) };
  } catch (error) {
    return { error: Date.now() > deadline ? 'late' : String(error) };
  }
}
