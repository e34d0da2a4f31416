import { copyFileSync, mkdirSync } from 'node:fs';
import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../src/database/open.ts';
import { sqliteDriver } from './sqlite-driver.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where databases can be made: `sqlite:FOLDER` or the URL of a PostgreSQL server. */
    databases: string;
    /** What the names of this run's PostgreSQL databases have in common. */
    run: string;
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

/** A copy of a database that nobody has open, removed when the run ends. */
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

/** A fresh database, open and migrated; whoever asks closes it. A process can have one open at a time. */
export async function openFreshDatabase(): Promise<Database> {
  const database = await openDatabase({ url: await freshDatabaseUrl(), sqliteDriver });
  await database.migrate();
  return database;
}

async function createPostgresDatabase(server: string, name: string, template = 'template1') {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
