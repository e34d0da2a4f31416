import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { Refusal } from '../errors.ts';

// PostgreSQL's own programs get the server and the user through the environment, because `ps` would
// show arguments to all users.

type Program = 'pg_dump' | 'pg_restore';

/** A run of `pg_dump` or `pg_restore`. */
export interface Run {
  program: Program;
  words: string[];
  /** The database, `postgres://…`. Absent if the program does not need a server. */
  url?: string;
}

/**
 * Runs the program and yields its output. Refuses with `not_ready` if the program is missing or
 * fails. If the program fails, the refusal quotes the last line of its standard error.
 */
export async function* outputOf({ program, words, url }: Run): AsyncGenerator<Buffer> {
  const child = spawn(program, words, {
    env: { ...process.env, LC_ALL: 'C', ...(url === undefined ? {} : serverIn(url)) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = endOf(child, program);
  // This is awaited below, after the output. If the program is missing, it rejects earlier.
  ended.catch(() => {});
  const said = text(child.stderr);
  for await (const chunk of child.stdout) yield chunk;
  const status = await ended;
  if (status === 0) return;
  const [reason = `${program} ended with ${status}`] = (await said).trim().split('\n').slice(-1);
  throw new Refusal('not_ready', `${program} failed: ${reason}`, { cause: new Error(await said) });
}

/** Runs the program to its end and returns its output. */
export async function run(what: Run): Promise<string> {
  return (await buffer(outputOf(what))).toString('utf8');
}

/** Refuses with `not_ready` if the program is missing or too old. The hint names the package. */
export async function requireProgram(program: Program, serverVersion: number): Promise<void> {
  const server = Math.floor(serverVersion / 10_000);
  const remedy = `On Debian: apt-get install postgresql-client-${server}`;
  const said = await run({ program, words: ['--version'] }).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal('not_ready', error.message, { hint: remedy, cause: error });
  });
  const own = Number(/(\d+)(?:\.\d+)*\s*(?:\(.*\))?\s*$/.exec(said)?.[1] ?? 0);
  if (own >= server) return;
  throw new Refusal(
    'not_ready',
    `${program} ${own} is older than the server (PostgreSQL ${server}).`,
    {
      hint: remedy,
    },
  );
}

async function endOf(child: ChildProcess, program: Program): Promise<number | null> {
  try {
    const [status] = await once(child, 'close');
    return status;
  } catch (cause) {
    throw new Refusal('not_ready', `${program} is not installed on this machine.`, { cause });
  }
}

const parameters: Record<string, string> = {
  host: 'PGHOST',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
};

function serverIn(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const named = {
    PGHOST: hostname.replace(/^\[(.*)\]$/, '$1'),
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
  };
  const given = [...searchParams].map(([name, value]) => [parameters[name], value]);
  const known = [...Object.entries(named), ...given].filter(([name, value]) => name && value);
  return Object.fromEntries(known);
}
