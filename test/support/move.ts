import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { copyOfDatabase, dialect } from './database.ts';
import type { Installation } from './installation.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';

/** Databases of both kinds, whichever this run of the file is about. */
export interface BothKinds {
  /** The URL of an empty database of this kind. */
  fresh(kind: 'sqlite' | 'postgres'): Promise<string>;
  stop(): Promise<void>;
}

/** The other kind than that of the run. */
export const otherKind = dialect === 'sqlite' ? 'postgres' : 'sqlite';

/** Starts a PostgreSQL server beside the databases of the run, where they are not its own. */
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
      await client.query(`CREATE DATABASE "${name}"`);
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

/** The address as idctl shows it. */
export function withoutPassword(url: string): string {
  return url.replace(/^(postgres:\/\/[^:]+):[^@]*@/, '$1@');
}

const preload = `--import=${new URL('./kill-at-statement.ts', import.meta.url).href}`;

/** One move of a copy of the installation, to be killed and run again. */
export interface Interrupted {
  from: string;
  to: string;
  /** How many statements a whole move takes; it stands for every move of this installation. */
  statements: number;
  /** Runs the move, killed right before this statement where one is named. */
  run(killAt?: number): Promise<{ code: number | null; out: string; err: string }>;
  /** Whether a command works on the old and on the new database, and what it says where it does not. */
  look(): Promise<{ [side in 'from' | 'to']: { code: number | null; err: string } }>;
}

/** Makes a copy of the installation's database, of which nothing has been moved, and a target of this kind. */
export async function interruptible(
  site: Installation,
  both: BothKinds,
  kind: 'sqlite' | 'postgres',
): Promise<Interrupted> {
  const counted = join(site.folder, 'count');
  const at = async () => ({
    from: await copyOfDatabase(site.database),
    to: await both.fresh(kind),
  });
  const run = (from: string, to: string, more: Record<string, string>) =>
    moveTo(site, to, { IDCTL_DATABASE: from, NODE_OPTIONS: preload, ...more });
  const trial = await at();
  const whole = await run(trial.from, trial.to, { COUNT_FILE: counted });
  if (whole.code !== 0) throw new Error(`the move ended with ${whole.code}: ${whole.err}`);
  const statements = Number(await readFile(counted, 'utf8'));
  await rm(counted);
  const { from, to } = await at();
  const listing = async (database: string) => {
    const { code, err } = await site.run(['org', 'list'], '', { IDCTL_DATABASE: database });
    return { code, err };
  };
  return {
    from,
    to,
    statements,
    run: (killAt) => run(from, to, killAt === undefined ? {} : { KILL_AT: String(killAt) }),
    look: async () => ({ from: await listing(from), to: await listing(to) }),
  };
}

/** Moves the installation; the URL is in a file, because it may hold a password. */
export async function moveTo(
  site: Installation,
  to: string,
  more: Record<string, string> = {},
  ...words: string[]
): Promise<{ code: number | null; out: string; err: string }> {
  const file = join(site.folder, `to-${crypto.randomUUID()}`);
  await writeFile(file, `${to}\n`);
  return site.run(['database', 'move', '--to-file', file, ...words], '', more);
}
