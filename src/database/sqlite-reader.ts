import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { ReaderQuestion, ReaderResult } from './select-within.ts';

// Reads the file in a thread, with its own connection. The driver is synchronous, so a full scan
// would block other queries. A query cannot be interrupted here, but it ends when its call of
// `in_time()` throws.

let deadline = 0;
// The file is not opened read-only: SQLite may have to create the -wal and -shm files.
const database = new DatabaseSync(String(workerData), { timeout: 1000 });
database.exec('PRAGMA query_only = ON');
database.function('in_time', () => {
  if (Date.now() > deadline) throw new Error('out of time');
  return 1;
});

parentPort?.on('message', ({ id, query, until }: ReaderQuestion) => {
  deadline = until;
  parentPort?.postMessage({ id, ...answer(query) } satisfies ReaderResult);
});

function answer({ sql, bind }: ReaderQuestion['query']): Omit<ReaderResult, 'id'> {
  try {
    const named = Object.fromEntries(bind.map((value, at) => [`$${at + 1}`, value]));
    return { rows: database.prepare(sql).all(named) };
  } catch (error) {
    return { error: Date.now() > deadline ? 'late' : String(error) };
  }
}
