import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Address, fileOf, type Link, onLink } from '../../../database/connect.ts';
import { migrations } from '../../../database/migrations/index.ts';
import { requireProgram, run } from '../../../database/postgres-programs.ts';
import { isIntact, synced } from '../../../database/sqlite-copy.ts';
import { Refusal } from '../../../errors.ts';
import { type Backup, invalid } from './container.ts';
import { finished, inFolder, unfinished } from './unfinished.ts';

// No daemon may use a restored database before `settleRestored` has run. Until then, a SQLite file
// keeps a temporary name. In PostgreSQL, the row that a daemon checks its master key with is
// missing, so no daemon starts.

/** The unpacked database of a backup. */
export interface Unpacked {
  url: string;
  /** Completes the restore. From then on, this is the instance's database. */
  finish(): Promise<void>;
  /** Undoes the restore. */
  takeBack(): Promise<void>;
}

/** Unpacks the database. Never replaces data. Refuses an unsuitable backup or address. */
export async function unpackBackup(backup: Backup, address: Address): Promise<Unpacked> {
  requireKnown(backup);
  const sqlite = address.url.startsWith('sqlite:');
  if (sqlite !== (backup.header.database === 'sqlite')) throw otherKind(sqlite);
  return sqlite ? unpackFile(backup, fileOf(address.url)) : unpackTables(backup, address);
}

/** Checks the database in a backup without restoring it. Refuses a damaged or newer database. */
export async function examineBackup(backup: Backup): Promise<void> {
  requireKnown(backup);
  await inFolder(tmpdir(), async (folder) => {
    const file = join(folder, 'database');
    await unpack(backup, file);
    if (backup.header.database === 'sqlite') requireIntegrity(file);
    else await run({ program: 'pg_restore', words: ['--list', file] });
  });
}

function requireKnown({ header: { migration, version } }: Backup): void {
  if (migrations.some(({ name }) => name === migration)) return;
  throw new Refusal(
    'schema_newer',
    `This backup was made by a newer idctl (${version}, ${migration}).`,
    {
      hint: `Install idctl ${version} or later.`,
    },
  );
}

function otherKind(sqlite: boolean): Refusal {
  const [own, other] = sqlite ? ['sqlite:FILE', 'PostgreSQL'] : ['postgres://…', 'SQLite'];
  return invalid(
    `This backup contains a ${other} database, but database.url is ${own}.`,
    `Restore it to the same kind of database: set database.url.`,
  );
}

async function unpack(backup: Backup, to: string): Promise<void> {
  await pipeline(backup.database(), createWriteStream(to, { flags: 'wx', mode: 0o600 }));
}

function requireIntegrity(file: string): void {
  if (isIntact(file)) return;
  throw invalid(
    'The database was already damaged when this backup was made.',
    'Use an earlier backup.',
  );
}

async function unpackFile(backup: Backup, file: string): Promise<Unpacked> {
  await requireNoFile(file);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.restoring`;
  const files = ['', '-wal', '-shm', '-journal'].map((end) => `${draft}${end}`);
  const takeBack = async () => {
    for (const path of files) await rm(path, { force: true });
    files.forEach(finished);
  };
  // Removes the files that a killed restore left.
  await takeBack();
  files.forEach(unfinished);
  try {
    await unpack(backup, draft);
    requireIntegrity(draft);
  } catch (error) {
    await takeBack();
    throw error;
  }
  return {
    url: `sqlite:${draft}`,
    takeBack,
    finish: async () => {
      await requireNoFile(file);
      await synced(draft);
      await rename(draft, file);
      files.forEach(finished);
      await synced(dirname(file));
    },
  };
}

async function requireNoFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  // SQLite would apply a leftover log to the restored database.
  const left = ['-wal', '-journal'].map((end) => `${file}${end}`).find((path) => existsSync(path));
  const taken = found !== null && found.size > 0 ? file : left;
  if (taken === undefined) return;
  throw new Refusal('conflict', `A database already exists: ${taken}.`, {
    hint: {
      technical:
        'A restore never replaces data. Stop idctl and move the file away, with its -wal and -shm, or set database.url to a new file.',
    },
  });
}

async function unpackTables(backup: Backup, address: Address): Promise<Unpacked> {
  await onServer(address, async ({ sequelize }) => {
    const tables = await sequelize.getQueryInterface().showAllTables();
    if (tables.length > 0) throw notEmpty(tables.length);
    // The version in the form of `server_version_num`.
    const version = Number.parseInt(await sequelize.databaseVersion(), 10) * 10_000;
    await requireProgram('pg_restore', version);
  });
  const { url } = address;
  await inFolder(tmpdir(), async (folder) => {
    const [dump, list] = [join(folder, 'dump'), join(folder, 'list')];
    await unpack(backup, dump);
    const contents = await run({ program: 'pg_restore', words: ['--list', dump] });
    await writeFile(list, contents.replace(/^.* TABLE DATA \S+ key_canaries .*\n/m, ''));
    const how = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges'];
    const name = decodeURIComponent(new URL(url).pathname.slice(1));
    const words = [...how, `--use-list=${list}`, `--dbname=${name}`, dump];
    await run({ program: 'pg_restore', words, url });
  });
  return {
    url,
    finish: async () => {},
    takeBack: () =>
      onServer(address, ({ sequelize }) => sequelize.getQueryInterface().dropAllTables()),
  };
}

function notEmpty(tables: number): Refusal {
  return new Refusal('conflict', `The database is not empty: it has ${tables} tables.`, {
    hint: {
      technical:
        'A restore never replaces data. Create an empty database (createdb NAME) and set database.url.',
    },
  });
}

function onServer(address: Address, work: (link: Link) => Promise<void>): Promise<void> {
  return onLink(address, { poolSize: 1, patience: 60_000, foreignKeys: true }, work);
}
