import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { copyOfDatabase, dialect } from './database.ts';
import type { Installation } from './installation.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';

/** Databases of both kinds, in every run of the test file. */
export interface BothKinds {
  /** The URL of an empty database of this kind. */
  fresh(kind: 'sqlite' | 'postgres'): Promise<string>;
  stop(): Promise<void>;
}

/** The kind of database that this run does not use. */
export const otherKind = dialect === 'sqlite' ? 'postgres' : 'sqlite';

/** Starts a PostgreSQL server if the run uses SQLite, or else uses the run's server. */
export async function startBothKinds(): Promise<BothKinds> {
  const folder = mkdtempSync(join(tmpdir(), 'idctl-move-'));
  const server: PostgresServer | null = dialect === 'sqlite' ? await startPostgres() : null;
  let made = 0;
  return {
    async fresh(kind) {
      made += 1;
      if (kind === 'sqlite') return `sqlite:${join(folder, `${made}.db`)}`;
      const url = new URL(server?.url ?? inject('databases'));
      const name = `idctl_${inject('run')}_move_${made}_${process.pid}`;
      const client = new pg.Client(url.href);
      await client.connect();
      // Sorts text by language and not by bytes, as most servers do.
      await client.query(
        `CREATE DATABASE "${name}" TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`,
      );
      await client.end();
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The URL without its password, as idctl shows it. */
export function withoutPassword(url: string): string {
  return url.replace(/^(postgres:\/\/[^:]+):[^@]*@/, '$1@');
}

const preload = `--import=${new URL('./kill-at-statement.ts', import.meta.url).href}`;

/** The result of a command on a database: exit code 0, or 3 with the refusal. */
interface Looked {
  code: number | null;
  err: string;
}

/** One move of a copy of the installation, to be killed and run again. */
export interface Interrupted {
  from: string;
  to: string;
  /** Runs the move; kills it right before statement `killAt`, if given. */
  run(killAt?: number): Promise<{ code: number | null; out: string; err: string }>;
  /** Tries a command on the old and on the new database. */
  look(): Promise<{ from: Looked; to: Looked }>;
}

/** Moves of the installation, each of a fresh copy into a fresh target of this kind. */
export interface Interruptions {
  /** The number of statements of a whole move. */
  statements: number;
  begin(): Promise<Interrupted>;
  /**
   * Runs this move, and kills it after it has marked the old database, before it releases the new
   * one.
   */
  killHalfway(move: Interrupted): Promise<void>;
}

/** Prepares moves of the installation. Runs one move to its end, to count its statements. */
export async function interruptions(
  site: Installation,
  both: BothKinds,
  kind: 'sqlite' | 'postgres',
): Promise<Interruptions> {
  const begin = async (more: Record<string, string> = {}): Promise<Interrupted> => {
    const [from, to] = [await copyOfDatabase(site.database), await both.fresh(kind)];
    const tried = async (database: string) => {
      const { code, err } = await site.run(['org', 'list'], '', { IDCTL_DATABASE: database });
      return { code, err };
    };
    return {
      from,
      to,
      run: (killAt) => {
        const kill: Record<string, string> = killAt === undefined ? {} : { KILL_AT: `${killAt}` };
        return moveTo(site, to, { IDCTL_DATABASE: from, NODE_OPTIONS: preload, ...more, ...kill });
      },
      look: async () => {
        const [old, made] = await Promise.all([tried(from), tried(to)]);
        return { from: old, to: made };
      },
    };
  };
  const counted = join(site.folder, 'count');
  const { code, err } = await (await begin({ COUNT_FILE: counted })).run();
  if (code !== 0) throw new Error(`the move ended with ${code}: ${err}`);
  const statements = Number(await readFile(counted, 'utf8'));
  let halfway: number | undefined;
  return {
    statements,
    begin,
    async killHalfway(move) {
      halfway ??= await findHalfway(begin, statements);
      // The number of statements differs by a few from one run to the next.
      for (let at = halfway; at < halfway + 5; at += 1) {
        await move.run(at);
        if (await isHalfway(move)) return;
      }
      throw new Error(`killed at ${halfway}, the move is not halfway`);
    },
  };
}

/** Finds a statement near the end: a kill before it leaves both databases refused. */
async function findHalfway(begin: () => Promise<Interrupted>, statements: number): Promise<number> {
  for (let at = statements; at > statements - 30; at -= 1) {
    const move = await begin();
    await move.run(at);
    if (await isHalfway(move)) return at;
  }
  throw new Error('no statement of the move is between mark and release');
}

async function isHalfway(move: Interrupted): Promise<boolean> {
  const { from, to } = await move.look();
  return from.code === 3 && to.code === 3;
}

/**
 * Kills a move right before a statement, checks that no write could be lost, and runs the move
 * again.
 */
export async function killAndRunAgain(move: Interrupted, killAt: number): Promise<void> {
  const killed = await move.run(killAt);
  if (killed.code !== null && killed.code !== 0) throw new Error(killed.err);
  const { from, to } = await move.look();
  if (from.code === 0 && to.code === 0)
    throw new Error(`killed at ${killAt}, both databases can be written`);
  if (from.code !== 0 && !from.err.includes('This database was moved to'))
    throw new Error(`killed at ${killAt}, the old database says: ${from.err}`);
  if (to.code !== 0 && to.code !== 3) throw new Error(`the new database says: ${to.err}`);
  const { code, err } = await move.run();
  if (code !== 0) throw new Error(`killed at ${killAt}, and run again it ended with: ${err}`);
  const after = await move.look();
  if (after.from.code !== 3 || after.to.code !== 0)
    throw new Error(`killed at ${killAt}, run again: ${JSON.stringify(after)}`);
}

/** Moves the installation. The URL is in a file, because it may contain a password. */
export async function moveTo(
  site: Installation,
  to: string,
  more: Record<string, string> = {},
  ...words: string[]
): Promise<{ code: number | null; out: string; err: string }> {
  const file = join(site.folder, `to-${crypto.randomUUID()}`);
  await writeFile(file, `${to}\n`, { mode: 0o600 });
  return site.run(['database', 'move', '--to-file', file, ...words], '', more);
}

/** Runs one statement on the database at this URL. */
export async function changeAt(database: string, sql: string): Promise<void> {
  if (database.startsWith('sqlite:')) {
    const sqlite = new DatabaseSync(database.slice('sqlite:'.length));
    sqlite.exec(sql);
    return sqlite.close();
  }
  const client = new pg.Client(database);
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** Waits until a daemon of this database has reported itself, shortly after it is ready. */
export async function daemonReported(site: Installation, database: string): Promise<void> {
  await expect.poll(() => site.query('SELECT id FROM daemons', database)).toHaveLength(1);
}
