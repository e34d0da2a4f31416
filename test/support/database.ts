import { copyFileSync, mkdirSync } from 'node:fs';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../src/database/open.ts';
import { createPostgresDatabase } from './postgres.ts';
import { sqliteDriver } from './sqlite-driver.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where databases can be made: `sqlite:FOLDER` or the URL of a PostgreSQL server. */
    databases: string;
    /** What the names of this run's PostgreSQL databases have in common. */
    run: string;
    /** The URL of a migrated database without rows. Nothing opens it: tests get copies. */
    migrated: string;
    /** Hashes of the builders' password, each with its own salt. */
    hashes: string[];
  }
}

/** The database that this run of the file is about. */
export const dialect: 'sqlite' | 'postgres' = inject('databases').startsWith('sqlite:')
  ? 'sqlite'
  : 'postgres';

/** A database of its own, still empty, for `database.url`; removed when the run ends. */
export async function freshDatabaseUrl(): Promise<string> {
  const name = crypto.randomUUID().slice(0, 8);
  const databases = inject('databases');
  if (dialect === 'sqlite') {
    const folder = `${databases.slice('sqlite:'.length)}/${name}`;
    mkdirSync(folder);
    return `sqlite:${folder}/idctl.db`;
  }
  return createPostgresDatabase(databases, `idctl_${inject('run')}_${name}`);
}

/** A copy of a database that is not open, removed when the run ends. */
export async function copyOfDatabase(url: string): Promise<string> {
  if (dialect === 'sqlite') {
    const copy = await freshDatabaseUrl();
    const pathOf = (of: string) => of.slice('sqlite:'.length);
    copyFileSync(pathOf(url), pathOf(copy));
    return copy;
  }
  const name = crypto.randomUUID().slice(0, 8);
  const template = new URL(url).pathname.slice(1);
  return createPostgresDatabase(inject('databases'), `idctl_${inject('run')}_${name}`, template);
}

/** A migrated database of its own, removed when the run ends. A copy is faster than a migration. */
export function migratedDatabaseUrl(): Promise<string> {
  return copyOfDatabase(inject('migrated'));
}

/** A migrated database, open. The caller closes it. A process can have one open at a time. */
export async function openFreshDatabase(): Promise<Database> {
  return openDatabase({ url: await migratedDatabaseUrl(), sqliteDriver });
}
