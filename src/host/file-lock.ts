import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for the lock on the file, creates the file if it is missing, and holds the lock until it is
 * closed. The file is an empty SQLite database: SQLite locks it with the operating system, which
 * also releases the lock of a command that was killed.
 */
export async function takeFileLock(file: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite');
  // An error of this call has a system code, unlike SQLite's.
  await (await open(file, 'a', 0o600)).close();
  const lock = new DatabaseSync(file, { timeout: 0 });
  while (!isTaken(lock)) await sleep(20);
  return lock;
}

function isTaken(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === busy) return false;
    lock.close();
    throw cause;
  }
}

const busy = 5;
