import { existsSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { migrations } from './migrations/index.ts';
import { copySqlite, readSqlite } from './sqlite-copy.ts';

// Beside a SQLite file stand copies of it from before a migration: `idctl.db.before-<migration>-<time>`, by which an
// older idctl finds the one that it can go back to.

const kept = 3;
const time = /-(\d{8}T\d{6}Z)$/;

/**
 * Copies the file when there is something in it that a migration is about to change, and answers where to; null when
 * there is not. Of earlier copies the last two stay.
 */
export async function copyBeforeMigration(file: string, now: Date): Promise<string | null> {
  if (!existsSync(file) || nextFor(file) === null || !holdsAccounts(file)) return null;
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const draft = `${file}.before-${process.pid}-${stamp}`;
  await copySqlite(file, draft);
  // Another process may have migrated meanwhile: the copy is what counts.
  const next = nextFor(draft);
  if (next === null) {
    await rm(draft);
    return null;
  }
  const copy = `${file}.before-${next}-${stamp}`;
  await rename(draft, copy);
  for (const old of copiesOf(file).slice(0, -kept)) await rm(old, { force: true });
  return copy;
}

/** The last copy of the file that knows nothing of this migration, if there is one. */
export function findCopyBefore(file: string, migration: string): string | null {
  return copiesOf(file).findLast((copy) => copy.startsWith(`${file}.before-${migration}-`)) ?? null;
}

/** The oldest first. */
function copiesOf(file: string): string[] {
  const folder = dirname(file);
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(file)}.before-`) && time.test(name))
    .sort((a, b) => Number(stampOf(a) > stampOf(b)) - Number(stampOf(a) < stampOf(b)))
    .map((name) => join(folder, name));
}

function stampOf(name: string): string {
  return time.exec(name)?.[1] ?? '';
}

/** The first migration that the file lacks; null when it lacks none, has none, or is a newer idctl's. */
function nextFor(file: string): string | null {
  if (!has(file, 'migrations')) return null;
  const applied = readSqlite(file, 'SELECT name FROM migrations').map(({ name }) => name);
  if (applied.some((name) => !migrations.some((known) => known.name === name))) return null;
  return migrations.find(({ name }) => !applied.includes(name))?.name ?? null;
}

function holdsAccounts(file: string): boolean {
  return has(file, 'accounts') && readSqlite(file, 'SELECT 1 FROM accounts LIMIT 1').length > 0;
}

function has(file: string, table: string): boolean {
  return readSqlite(file, `SELECT 1 FROM sqlite_master WHERE name = '${table}'`).length > 0;
}
