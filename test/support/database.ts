import { copyFileSync, mkdirSync } from 'node:fs';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../src/database/open.ts';
import { createPostgresDatabase } from './postgres.ts';
import { sqliteDriver } from './sqlite-driver.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The place for databases: `sqlite:FOLDER` or the URL of a PostgreSQL server. */
    databases: string;
    /** The part that the names of this run's PostgreSQL databases share. */
    run: string;
    /** The URL of a migrated database without rows. Nothing opens it: tests get copies. */
    migrated: string;
    /** Hashes of the builders' password, each with its own salt. */
    hashes: string[];
  }
}

/** The kind of database that this run of the test file uses. */
export const dialect: 'sqlite' | 'postgres' = inject('databases').startsWith('sqlite:')
  ? 'sqlite'
  : 'postgres';

/** Creates an empty database for `database.url`. It is removed when the run ends. */
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

/** Copies a database that no process has open. The copy is removed when the run ends. */
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

/**
 * Creates a migrated database, which is removed when the run ends. A copy is faster than a
 * migration.
 */
export function migratedDatabaseUrl(): Promise<string> {
  return copyOfDatabase(inject('migrated'));
}

/** Opens a new migrated database. The caller closes it. A process can have one open at a time. */
export async function openFreshDatabase(): Promise<Database> {
  return openDatabase({ url: await migratedDatabaseUrl(), sqliteDriver });
}
