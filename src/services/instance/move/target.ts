import { rm, stat } from 'node:fs/promises';
import { emptyTables } from '../../../database/bulk.ts';
import { type Address, fileOf, onLink } from '../../../database/connect.ts';
import { type UnfinishedMark, unfinishedRow } from '../../../database/marks.ts';
import { applyMigrations, markFirst } from '../../../database/migrate.ts';
import { migrations } from '../../../database/migrations/index.ts';
import { connectPlain, type PlainConnection } from '../../../database/plain-connection.ts';
import type { Table } from '../../../database/tables.ts';
import { Refusal } from '../../../errors.ts';
import { isMissing, ofTarget, replacedRow } from './look.ts';
import { deleteMark, setLockingMode, touchMark, tryMoveLock } from './move.sql.ts';
import { statementPatience } from './source.ts';

// From its first table until the end of the move, the new database has a mark. Daemons and commands
// refuse a marked database.

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
    // The next run would refuse an empty file, because it does not belong to a move.
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
    if (connection.dialect === 'postgres' && !(await tryMoveLock(connection))) throw underWay();
    await prepareSchema(to, mark);
    if (connection.dialect === 'sqlite') await setLockingMode(connection, 'EXCLUSIVE');
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
  connection: PlainConnection,
  { mark, now }: { mark: UnfinishedMark; now: Date },
): Promise<void> {
  await connection.setSync(true);
  // A synchronous commit also syncs all commits before it.
  await touchMark(connection, unfinishedRow(mark), now);
}

/**
 * Removes the mark in the open transaction, which excludes other moves until it ends. Refuses if
 * another move has replaced the mark.
 */
export async function removeMark(mark: UnfinishedMark): Promise<void> {
  if (await deleteMark(unfinishedRow(mark))) return;
  throw new Refusal('conflict', 'Another move has claimed the new database.', {
    hint: 'The current database is unchanged. Move it to a different database.',
  });
}

async function prepareSchema(to: Address, mark: UnfinishedMark): Promise<void> {
  // Migrations use their own connection, because SQLite needs foreign keys off.
  const behaviour = { poolSize: 1, patience: statementPatience, foreignKeys: false };
  await onLink(to, behaviour, async (link) => {
    await markFirst(link, unfinishedRow(mark), (names) => replacedRow(to, mark, names));
    await applyMigrations(link, migrations, { marked: true });
  });
}

function underWay(): Refusal {
  return new Refusal('conflict', 'Another move into the new database is under way.', {
    hint: 'Wait until the other move ends.',
  });
}
