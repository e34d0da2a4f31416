import { rm, stat } from 'node:fs/promises';
import { emptyTables } from '../../../database/bulk.ts';
import { type Address, fileOf, onLink } from '../../../database/connect.ts';
import { type UnfinishedMark, unfinishedRow } from '../../../database/marks.ts';
import { applyMigrations, markFirst } from '../../../database/migrate.ts';
import { migrations } from '../../../database/migrations/index.ts';
import { connectPlain, type PlainConnection } from '../../../database/plain-connection.ts';
import { execute, select } from '../../../database/select.ts';
import type { Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { isMissing, ofTarget, replacedRow } from './look.ts';
import { statementPatience } from './source.ts';

// From its first table until the end of the move, the new database has a mark. Daemons and commands
// refuse a marked database.

/** This is not the lock for migrations, which each migration takes in its own transaction. */
const moveLock = 7_236_412_012;

/**
 * Marks an empty database or an unfinished copy, migrates it, and empties its tables. Until the
 * connection is closed, no other move can write to the database.
 */
export async function claimTarget(
  to: Address,
  { mark, tables }: { mark: UnfinishedMark; tables: Table[] },
): Promise<PlainConnection> {
  const isNew = isMissing(to);
  return claim(to, mark, tables).catch(async (error: unknown) => {
    // The next run would refuse an empty file, because it belongs to no move.
    if (isNew) await removeEmpty(fileOf(to.url));
    throw ofTarget(to, error);
  });
}

async function removeEmpty(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null || found.size > 0) return;
  for (const end of ['', '-wal', '-shm', '-journal']) await rm(`${file}${end}`, { force: true });
}

async function claim(to: Address, mark: UnfinishedMark, tables: Table[]): Promise<PlainConnection> {
  const connection = await connectPlain(to, statementPatience);
  try {
    if (connection.dialect === 'postgres') await takeMoveLock(connection);
    await prepareSchema(to, mark);
    if (connection.dialect === 'sqlite') await connection.all('PRAGMA locking_mode = EXCLUSIVE');
    await emptyTables(connection, tables);
    await connection.setSync(false);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Syncs the whole copy to disk, and turns on syncing for later commits. */
export async function storeCopy(
  { all, setSync }: PlainConnection,
  { mark, now }: { mark: UnfinishedMark; now: Date },
): Promise<void> {
  await setSync(true);
  // A synchronous commit also syncs all commits before it.
  await all('UPDATE migrations SET applied_at = $1 WHERE name = $2', [now, unfinishedRow(mark)]);
}

/**
 * Removes the mark in the open transaction, which excludes other moves until it ends. Refuses if
 * another move has replaced the mark.
 */
export async function removeMark(mark: UnfinishedMark): Promise<void> {
  const name = unfinishedRow(mark);
  // This update takes the write lock before the check.
  await execute('UPDATE migrations SET applied_at = applied_at WHERE name = $1', [name]);
  const found = await select('SELECT name FROM migrations WHERE name = $1', [name]);
  if (found.length === 0) {
    throw new Refusal('conflict', 'Another move has claimed the new database.', {
      hint: 'The current database is unchanged. Move it to a different database.',
    });
  }
  await execute('DELETE FROM migrations WHERE name = $1', [name]);
}

async function prepareSchema(to: Address, mark: UnfinishedMark): Promise<void> {
  // Migrations use their own connection, because SQLite needs foreign keys off.
  const behaviour = { poolSize: 1, patience: statementPatience, foreignKeys: false };
  await onLink(to, behaviour, async (link) => {
    await markFirst(link, unfinishedRow(mark), (names) => replacedRow(to, mark, names));
    await applyMigrations(link, migrations, { marked: true });
  });
}

async function takeMoveLock({ all }: PlainConnection): Promise<void> {
  const [taken] = await all(`SELECT pg_try_advisory_lock(${moveLock}) AS taken`);
  if (taken?.['taken'] === true) return;
  throw new Refusal('conflict', 'Another move into the new database is under way.', {
    hint: 'Wait until the other move ends.',
  });
}
