import { close, fdatasync, openSync, realpathSync } from 'node:fs';
import { promisify } from 'node:util';
import { Refusal } from '../errors.ts';
import { codeOf } from '../host/file-fault.ts';
import { inTime } from '../host/in-time.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { countWholeFrames } from './sqlite-wal.ts';

// A commit is acknowledged once its pages in the -wal file are on the disk. SQLite's own wait would
// block the event loop, so that no other request runs meanwhile. Instead, the transaction commits
// without a wait (`synchronous = NORMAL`), and then a thread of Node syncs the file. The next
// transaction may begin before that. One sync serves all commits before it.
//
// An operating system reports a failed sync once, and may drop the pages. A later sync would succeed
// without them, and SQLite reads a -wal file only as far as it is whole. So after a failed sync, no
// commit is acknowledged until all commits are in the database file. If pages were dropped, nothing may
// copy them there: only the next process that opens the file leaves them out.

/** Syncs the -wal file of an open database. */
export interface WalSync {
  /** Opens the file. Call it once SQLite has the database open, so that a sync does not need a new handle. */
  open(): void;
  /**
   * Resolves once all commits before the call are on the disk. Refuses with `database_busy` after ten
   * seconds.
   */
  settled(): Promise<void>;
  /**
   * After a failed sync, copies all commits to the database file, and syncs that. Throws if this is
   * not possible. Call it before each transaction.
   */
  repair(writer: SqliteConnection): Promise<void>;
  /**
   * Waits for the syncs in progress. Returns false if the connections must stay open, because the last
   * one to close copies the -wal file to the database file, and pages were dropped.
   */
  close(reader: () => Promise<SqliteConnection>): Promise<boolean>;
}

// Without a limit, requests would collect while a disk hangs.
const patience = 10_000;

/** Syncs the -wal file of this database file. */
export function syncWal(file: string): WalSync {
  let wal: number | undefined;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let fault: SyncFault | undefined;

  const open = () => {
    // If the file is a symbolic link, SQLite puts -wal beside its target.
    wal ??= openSync(`${realpathSync(file)}-wal`, 'r');
    return wal;
  };

  const sync = async () => {
    next = undefined;
    if (fault !== undefined) throw fault;
    await promisify(fdatasync)(open()).catch((error: unknown) => {
      fault = new SyncFault(error);
      throw fault;
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

  /** Whether the file has each frame that SQLite has written. */
  const isWhole = async (connection: SqliteConnection) => {
    const [found] = await connection.all('PRAGMA wal_checkpoint(NOOP)', []);
    return (await countWholeFrames(open())) >= Number(found?.['log']);
  };

  return {
    open,
    settled: () => inTime(patience, settled, diskTooSlow),
    async repair(writer) {
      if (fault === undefined) return;
      if (!(await isWhole(writer))) throw new LostPages(fault);
      // A checkpoint reports a lock by its row, without an error.
      const [found] = await writer.all('PRAGMA wal_checkpoint(TRUNCATE)', []);
      if (found?.['busy'] !== 0) throw fault;
      fault = undefined;
    },
    async close(reader) {
      await running.catch(() => {});
      // An error means that the connection has read a page that is missing.
      const look = () =>
        reader()
          .then(isWhole)
          .catch(() => false);
      if (fault !== undefined && !(await look())) return false;
      if (wal !== undefined) await promisify(close)(wal);
      wal = undefined;
      return true;
    },
  };
}

function diskTooSlow(): never {
  throw new Refusal('database_busy', 'The disk did not store the change within ten seconds.', {
    hint: 'It may be stored later. Check whether it is there before you try again.',
    retryAfter: 5,
  });
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

class LostPages extends Error {
  readonly code = 'IDCTL_LOST_PAGES';

  constructor(cause: unknown) {
    super('the -wal file has lost pages, which were not acknowledged', { cause });
  }
}
