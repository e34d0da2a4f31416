import { dirname, join } from 'node:path';
import { DataTypes, QueryTypes, type Sequelize } from 'sequelize';
import { Refusal } from '../errors.ts';
import type { Next } from '../next.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Link } from './connect.ts';
import { isMark, requireUnmarked } from './marks.ts';
import { migrations as released } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import { findCopyBefore } from './snapshot.ts';
import { transactionOn } from './transaction.ts';

// Each migration and its record are one transaction. Pending migrations are read again under the
// lock (on SQLite, the write lock), so several processes may start at the same time.

const recordTable = 'migrations';
/** The PostgreSQL lock for migrating or moving a database. */
export const advisoryLock = 7_236_412_011;

/**
 * The names of the pending migrations. Refuses with `schema_newer` if the database has an unknown
 * migration. Also refuses a database that was moved, or that is an unfinished copy.
 */
export async function pendingMigrations(
  sequelize: Sequelize,
  migrations: readonly Migration[] = released,
): Promise<string[]> {
  const names = await recorded(sequelize);
  requireUnmarked(names);
  return left(migrations, names, sequelize);
}

// The age of a check in milliseconds: when the next one starts, and when writes wait for it.
const freshFor = 1_000;
const trustedFor = 5_000;

/**
 * Returns a check to run before each write. The check refuses as `pendingMigrations` does, for
 * example once a newer idctl has migrated the database.
 */
export function watchSchema(sequelize: Sequelize): () => Promise<void> {
  let checkedAt = performance.now();
  let checking: Promise<void> | undefined;
  const check = async () => {
    try {
      await pendingMigrations(sequelize);
      checkedAt = performance.now();
    } catch (error) {
      checkedAt = Number.NEGATIVE_INFINITY;
      throw error;
    } finally {
      checking = undefined;
    }
  };
  return async () => {
    const age = performance.now() - checkedAt;
    if (age < freshFor) return;
    checking ??= check();
    if (age >= trustedFor) await checking;
    // The next write reports a failure.
    else checking.catch(() => {});
  };
}

/**
 * Applies the pending migrations and returns their names. On SQLite the link must have foreign keys
 * off, because rebuilding a table drops the old one. Refuses as `pendingMigrations` does. `marked`
 * allows the unfinished copy of a move.
 */
export async function applyMigrations(
  link: Link,
  migrations: readonly Migration[] = released,
  { marked = false } = {},
): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const name = await transactionOn(link.sequelize, () => applyNext(link, migrations, marked));
    if (name === null) return names;
    names.push(name);
  }
}

/**
 * Marks a database before its first migration. `replaced` gets the names in the table `migrations`.
 * It returns the earlier mark to replace, or null, and may refuse.
 */
export async function markFirst(
  link: Link,
  mark: string,
  replaced: (names: string[]) => string | null,
): Promise<void> {
  const { sequelize } = link;
  await transactionOn(sequelize, async () => {
    await lock(link);
    await createRecord(sequelize);
    const former = replaced(await recorded(sequelize));
    if (former !== null)
      await sequelize.getQueryInterface().bulkDelete(recordTable, { name: former });
    await record(sequelize, mark);
  });
}

async function applyNext(
  link: Link,
  migrations: readonly Migration[],
  marked: boolean,
): Promise<string | null> {
  await lock(link);
  await createRecord(link.sequelize);
  const names = await recorded(link.sequelize);
  if (!marked) requireUnmarked(names);
  if (left(migrations, names, link.sequelize).length === 0) return null;
  const [done] = await (await umzug(link, migrations)).up({ step: 1 });
  await checkReferences(link);
  return done?.name ?? null;
}

async function umzug(link: Link, migrations: readonly Migration[]) {
  const { Umzug } = await import('umzug');
  const { sequelize, dialect } = link;
  const room = { queryInterface: sequelize.getQueryInterface(), sequelize, dialect };
  return new Umzug({
    migrations: migrations.map(({ name, up }) => ({ name, up: () => up(room) })),
    logger: undefined,
    storage: {
      executed: () => recorded(sequelize),
      logMigration: ({ name }) => record(sequelize, name),
      unlogMigration: async () => {
        throw new Error('migrations go forward only');
      },
    },
  });
}

/** The names of applied migrations, and marks of moves. */
async function recorded(sequelize: Sequelize): Promise<string[]> {
  if (!(await sequelize.getQueryInterface().tableExists(recordTable))) return [];
  const rows = await sequelize.query<{ name: string }>(
    `SELECT name FROM ${recordTable} ORDER BY name`,
    { type: QueryTypes.SELECT },
  );
  return rows.map((row) => row.name);
}

async function record(sequelize: Sequelize, name: string): Promise<void> {
  await sequelize.getQueryInterface().bulkInsert(recordTable, [{ name, applied_at: new Date() }]);
}

function left(migrations: readonly Migration[], names: string[], sequelize: Sequelize): string[] {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = names.filter((name) => !known.has(name) && !isMark(name));
  if (unknown.length > 0) {
    throw new Refusal(
      'schema_newer',
      `The database was written by a newer idctl (${unknown.join(', ')}).`,
      {
        hint: wayBack(sequelize, unknown[0] ?? ''),
      },
    );
  }
  return [...known].filter((name) => !names.includes(name));
}

/** The hint for a user of an older idctl. */
function wayBack(sequelize: Sequelize, migration: string): Next {
  const onward = 'Install the idctl that wrote the database, or a later one.';
  const lost = 'All changes since the upgrade are then lost.';
  // Sequelize's types omit the options it was opened with.
  const { storage } = (sequelize as Sequelize & { options: { storage?: string } }).options;
  const copy = storage === undefined ? null : findCopyBefore(storage, migration);
  if (storage === undefined || copy === null)
    return [
      onward,
      { technical: `Or restore a backup from before the upgrade into an empty database. ${lost}` },
      { to: 'restore it', operation: 'restore' },
    ];
  const stamp = new Date().toISOString().replace(/[-:]|\..*/g, '');
  const [file, newer] = [shellWord(storage), shellWord(join(dirname(storage), `newer-${stamp}`))];
  // After a crash, the last commits are only in the log of the database.
  const all = `for f in ${file} ${file}-wal ${file}-shm`;
  const move = `mkdir ${newer} && ${all}; do test ! -e "$f" || mv "$f" ${newer}; done`;
  return [
    onward,
    { technical: `Or go back to the copy made before the upgrade: ${copy}. ${lost}` },
    { technical: `Stop the daemon and run: ${move} && mv ${shellWord(copy)} ${file}` },
  ];
}

async function lock({ sequelize, dialect }: Link): Promise<void> {
  // On SQLite the transaction already holds the write lock.
  if (dialect === 'postgres')
    await sequelize.query(`SELECT pg_advisory_xact_lock(${advisoryLock})`);
}

async function createRecord(sequelize: Sequelize): Promise<void> {
  await sequelize.getQueryInterface().createTable(recordTable, {
    name: { type: DataTypes.STRING, primaryKey: true },
    applied_at: { type: DataTypes.DATE, allowNull: false },
  });
}

async function checkReferences({ sequelize, dialect }: Link): Promise<void> {
  if (dialect !== 'sqlite') return;
  const broken = await sequelize.query('PRAGMA foreign_key_check', { type: QueryTypes.SELECT });
  if (broken.length > 0)
    throw new Error(`a migration left ${broken.length} rows with missing parents`);
}
