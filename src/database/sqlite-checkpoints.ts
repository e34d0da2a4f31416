import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

// SQLite copies the pages of the -wal file to the database after a commit. After a large
// transaction that takes longer than the commit, and the driver is synchronous. So a thread does it.

/** The changed rows from which a transaction is large. SQLite copies those of others itself. */
const largeTransaction = 2000;
/** SQLite's default, in pages. */
const automatic = 'PRAGMA wal_autocheckpoint = 1000';

// A checkout has the source file, a release the compiled file.
const program = import.meta.url.endsWith('.ts')
  ? new URL('./sqlite-checkpointer.ts', import.meta.url)
  : new URL('./sqlite-checkpointer.js', import.meta.url);

/** The checkpoints of one connection that writes. */
export interface Checkpoints {
  /** Commits by `work`. The pages of a large transaction are copied later, by a thread. */
  around<T>(work: () => T): T;
  /** Waits until the thread has ended. Call it before the connection is closed. */
  end(): Promise<void>;
}

/** Watches the commits of this connection to the file. */
export function watchCommits(database: DatabaseSync, file: string): Checkpoints {
  const changes = database.prepare('SELECT total_changes() AS total');
  let before = 0;
  let copying: Promise<void> | null = null;
  let isDue = false;

  const wasLarge = () => {
    const total = Number(changes.get()?.['total']);
    const large = total - before > largeTransaction;
    before = total;
    return large;
  };
  const copy = async () => {
    while (isDue) {
      isDue = false;
      await copyInThread(file);
    }
    copying = null;
    database.exec(automatic);
  };

  return {
    around(work) {
      if (!wasLarge()) return work();
      if (copying === null) database.exec('PRAGMA wal_autocheckpoint = 0');
      try {
        const result = work();
        isDue = true;
        return result;
      } finally {
        copying ??= copy();
      }
    },
    end: async () => {
      await copying;
    },
  };
}

/** Never fails: what the thread cannot copy, SQLite copies after a later commit. */
async function copyInThread(file: string): Promise<void> {
  const worker = new Worker(program, { workerData: file });
  worker.on('error', () => undefined);
  await once(worker, 'exit').catch(() => undefined);
}
