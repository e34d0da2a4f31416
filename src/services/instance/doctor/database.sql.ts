import { select } from '../../../database/select.ts';

// The SQL of the checks of a SQLite database.

/** The journal mode, such as `wal`. */
export async function readJournalMode(): Promise<string | undefined> {
  const [row] = await select<{ journal_mode: string }>('PRAGMA journal_mode', []);
  return row?.journal_mode;
}

/** `ok`, or the first fault of the file in SQLite's words. */
export async function checkQuickly(): Promise<string | undefined> {
  const [row] = await select<{ quick_check: string }>('PRAGMA quick_check(1)', []);
  return row?.quick_check;
}
