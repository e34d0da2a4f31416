import { close, fdatasync, openSync, realpathSync } from 'node:fs';
import { promisify } from 'node:util';
import { codeOf } from '../host/file-fault.ts';

// A commit is acknowledged once its pages in the -wal file are on the disk. SQLite's own wait would
// block the event loop, so that no other request runs meanwhile. Instead, the transaction commits
// without a wait (`synchronous = NORMAL`), and then a thread of Node syncs the file. The next
// transaction may begin before that. One sync serves all commits before it.

/** Syncs the -wal file of an open database. */
export interface WalSync {
  /** Opens the file. Call it once SQLite has the database open, so that a sync needs no new handle. */
  open(): void;
  /** Resolves once all commits before the call are on the disk. */
  settled(): Promise<void>;
  /** Waits for the syncs in progress. */
  close(): Promise<void>;
}

/** Syncs the -wal file of this database file. */
export function syncWal(file: string): WalSync {
  let wal: number | undefined;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  const open = () => {
    // If the file is a symbolic link, SQLite puts -wal beside its target.
    wal ??= openSync(`${realpathSync(file)}-wal`, 'r');
    return wal;
  };

  const sync = async () => {
    next = undefined;
    await promisify(fdatasync)(open()).catch((error: unknown) => {
      throw new SyncFault(error);
    });
  };

  const settled = () => {
    // The running sync may have begun before the commit.
    if (next === undefined) {
      next = running.catch(() => {}).then(sync);
      running = next;
    }
    return next;
  };

  return {
    open,
    settled,
    async close() {
      await running.catch(() => {});
      if (wal !== undefined) await promisify(close)(wal);
      wal = undefined;
    },
  };
}

/** The error that SQLite throws if it cannot sync. */
class SyncFault extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    super('the -wal file could not be synced', { cause });
    const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(cause) ?? '');
    this.code = isFull ? 'SQLITE_FULL' : 'SQLITE_IOERR';
  }
}
