import { existsSync, lstatSync } from 'node:fs';
import { type Address, fileOf } from '../../../database/connect.ts';
import {
  shownAddress,
  type UnfinishedMark,
  unfinishedMarkIn,
  unfinishedRow,
} from '../../../database/marks.ts';
import { onPlain } from '../../../database/plain-connection.ts';
import { databaseRefusal } from '../../../database/refusals.ts';
import { readSqlite } from '../../../database/sqlite-copy.ts';
import { Refusal } from '../../../errors.ts';
import { userName } from '../../../host/file-fault.ts';
import { type AskDatabase, listMigrations, listTableNames, readMoves } from './move.sql.ts';

// Examines the new database before anything is written there.

/** Refuses a database that is neither empty nor an unfinished copy of this source. */
export async function requireTarget(to: Address, { source }: UnfinishedMark): Promise<void> {
  const { tables, names } = await lookAt(to);
  if (tables.length > 0 && unfinishedMarkIn(names)?.source !== source) throw notEmpty(to, names);
}

/**
 * The row of the mark that a move of this source replaces; null in an empty database. Judges by the
 * names in the table `migrations`, and refuses any other database.
 */
export function replacedRow(
  to: Address,
  { source }: UnfinishedMark,
  names: readonly string[],
): string | null {
  if (names.length === 0) return null;
  const found = unfinishedMarkIn(names);
  if (found?.source !== source) throw notEmpty(to, names);
  return unfinishedRow(found);
}

/**
 * The state of the move with this id in the new database. Refuses a database that is neither empty
 * nor the copy of that move.
 */
export async function findCopy(to: Address, move: string): Promise<'none' | 'half' | 'released'> {
  const { tables, names } = await lookAt(to);
  if (tables.length === 0) return 'none';
  const half = unfinishedMarkIn(names);
  if (half?.move === move) return 'half';
  const shown = shownAddress(to);
  if (half !== null) {
    throw new Refusal(
      'conflict',
      `${shown} contains the unfinished copy of another move, from ${half.from}.`,
      {
        hint: { technical: `Set database.url to ${half.from} and run the same move again.` },
      },
    );
  }
  if (tables.includes('events') && (await hasReleased(to, move))) return 'released';
  throw new Refusal(
    'conflict',
    `This database was moved to ${shown}, but that address now has another database.`,
    {
      hint: 'Check the address. If the copy is lost, empty the new database, then run the move again.',
    },
  );
}

function hasReleased(to: Address, move: string): Promise<boolean> {
  return asking(to, async (ask) => {
    const moves = await readMoves(ask);
    return moves.some((data) => moveIn(data) === move);
  });
}

function moveIn(data: unknown): unknown {
  // SQLite stores JSON as text.
  const read: unknown = typeof data === 'string' ? JSON.parse(data) : data;
  return typeof read === 'object' && read !== null && 'move' in read ? read.move : null;
}

/** The tables in the new database, and the names in its table `migrations`. Writes nothing. */
async function lookAt(to: Address): Promise<{ tables: string[]; names: string[] }> {
  if (isMissing(to)) return { tables: [], names: [] };
  if (to.url.startsWith('sqlite:')) requireOwnFile(to);
  try {
    return await asking(to, async (ask) => {
      const isSqlite = to.url.startsWith('sqlite:');
      const tables = await listTableNames(ask, isSqlite ? 'sqlite' : 'postgres');
      const marked = tables.includes('migrations');
      return { tables, names: marked ? await listMigrations(ask) : [] };
    });
  } catch (error) {
    throw ofTarget(to, error);
  }
}

/** Whether the SQLite file is missing: opening it would create it. */
export function isMissing({ url }: Address): boolean {
  return url.startsWith('sqlite:') && !existsSync(fileOf(url));
}

/** Refuses an existing file that is empty or not private to this user (security X8). */
function requireOwnFile({ url }: Address): void {
  const file = fileOf(url);
  const { uid, mode, size } = lstatSync(file);
  if (uid === process.geteuid?.() && (mode & 0o077) === 0 && size > 0) return;
  throw new Refusal('conflict', `${file} already exists.`, {
    hint: 'A move never replaces data. Name a file that does not exist.',
  });
}

async function asking<T>(to: Address, work: (ask: AskDatabase) => Promise<T>): Promise<T> {
  // A connection of the drivers would change the journal mode, and the file may not be ours.
  if (to.url.startsWith('sqlite:')) return work(async (sql) => readSqlite(fileOf(to.url), sql));
  return onPlain(to, 5000, ({ all }) => work((sql) => all(sql)));
}

/** Rewrites an error of the new database: the usual refusal names the configured database. */
export function ofTarget(to: Address, error: unknown): unknown {
  const refusal = databaseRefusal(error);
  if (refusal?.code === 'database_full') return fullTarget(to, error);
  if (refusal?.code !== 'database_unreachable') return error;
  const hint = to.url.startsWith('sqlite:')
    ? `Name another file, or let the user ${userName()} write it and its folder.`
    : 'Check the URL with its user and password, and that the server is running.';
  return new Refusal(refusal.code, `The new database ${shownAddress(to)} cannot be used.`, {
    hint,
    cause: refusal,
  });
}

/** Only the new database grows during a copy, so a full disk is always its disk. */
export function fullTarget(to: Address, error: unknown): unknown {
  if (databaseRefusal(error)?.code !== 'database_full') return error;
  const message = `There is no space left for the new database ${shownAddress(to)}.`;
  const hint = 'Free space there, or name another place. Then run the move again.';
  return new Refusal('database_full', message, { hint, cause: error });
}

function notEmpty(to: Address, names: readonly string[]): Refusal {
  const half = unfinishedMarkIn(names);
  const what = half === null ? '.' : `: it contains an unfinished copy of ${half.from}.`;
  const one = to.url.startsWith('sqlite:')
    ? 'Name a file that does not exist.'
    : 'Create an empty database (createdb NAME) and name it.';
  return new Refusal('conflict', `The new database ${shownAddress(to)} is not empty${what}`, {
    hint: `A move never replaces data. ${one}`,
  });
}
