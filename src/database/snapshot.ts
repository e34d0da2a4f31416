import { existsSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isOtherRunning } from '../host/running.ts';
import { type Address, fileOf } from './connect.ts';
import { migrations } from './migrations/index.ts';
import { copySqlite, readLive, readSqlite } from './sqlite-copy.ts';

// Copies made before migrations are stored beside the SQLite file, as
// `idctl.db.before-<migration>-<time>`. From the name, an older idctl knows which copy it can go
// back to.

const kept = 3;
const time = /-(\d{8}T\d{6}Z)$/;
// The name of an unfinished copy. An earlier idctl named an unfinished copy like a finished one.
const draftName = /\.(?:copying|before)-(\d+)-\d{8}T\d{6}Z(?:-journal|-wal|-shm)?$/;

/**
 * Copies the file if it has accounts and a migration is pending. Returns the path of the copy, else
 * null. Keeps this copy and the two before it.
 */
export async function copyBeforeMigration(address: Address, now: Date): Promise<string | null> {
  const file = fileOf(address.url);
  const live: Read = (sql) => readLive(address, sql);
  if (!existsSync(file) || (await nextFor(live)) === null || !(await holdsAccounts(live)))
    return null;
  await removeDrafts(file);
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const draft = `${file}.copying-${process.pid}-${stamp}`;
  await copySqlite(address, draft);
  // Another process may have migrated the file in the meantime, so check the copy.
  const next = await nextFor(async (sql) => readSqlite(draft, sql));
  if (next === null) {
    await rm(draft);
    return null;
  }
  const copy = `${file}.before-${next}-${stamp}`;
  await rename(draft, copy);
  for (const old of copiesOf(file).slice(0, -kept)) await rm(old, { force: true });
  return copy;
}

/** The last copy of the file made before this migration, if any. */
export function findCopyBefore(file: string, migration: string): string | null {
  return copiesOf(file).findLast((copy) => copy.startsWith(`${file}.before-${migration}-`)) ?? null;
}

/** Whether another process copies the file before it migrates it. */
export function isCopying({ url }: Address): boolean {
  return besides(fileOf(url)).some((path) => {
    const [, pid] = draftName.exec(path) ?? [];
    return pid !== undefined && isOtherRunning(Number(pid));
  });
}

/** Removes unfinished copies of killed processes. */
async function removeDrafts(file: string): Promise<void> {
  for (const path of besides(file)) {
    const [, pid] = draftName.exec(path) ?? [];
    if (pid !== undefined && !isOtherRunning(Number(pid))) await rm(path, { force: true });
  }
}

/** The finished copies, oldest first. */
function copiesOf(file: string): string[] {
  return besides(file)
    .filter(
      (path) => path.startsWith(`${file}.before-`) && time.test(path) && !draftName.test(path),
    )
    .sort((a, b) => Number(stampOf(a) > stampOf(b)) - Number(stampOf(a) < stampOf(b)));
}

/** The files whose names start with the name of this file. */
function besides(file: string): string[] {
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}.`));
  return names.map((name) => join(dirname(file), name));
}

function stampOf(name: string): string {
  return time.exec(name)?.[1] ?? '';
}

type Read = (sql: string) => Promise<Record<string, unknown>[]>;

/**
 * The first migration that the file lacks. Null if none is missing, if there is no table
 * `migrations`, or if a newer idctl or a move has written to the file.
 */
export async function nextFor(read: Read): Promise<string | null> {
  if (!(await has(read, 'migrations'))) return null;
  const applied = (await read('SELECT name FROM migrations')).map(({ name }) => name);
  if (applied.some((name) => !migrations.some((known) => known.name === name))) return null;
  return migrations.find(({ name }) => !applied.includes(name))?.name ?? null;
}

async function holdsAccounts(read: Read): Promise<boolean> {
  return (await has(read, 'accounts')) && (await read('SELECT 1 FROM accounts LIMIT 1')).length > 0;
}

async function has(read: Read, table: string): Promise<boolean> {
  return (await read(`SELECT 1 FROM sqlite_master WHERE name = '${table}'`)).length > 0;
}
