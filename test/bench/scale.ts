import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { type Daemon, main, startDaemon, surroundings } from '../support/daemon.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { table } from './figures.ts';
import { load as loadShots } from './load.ts';
import { processorTime } from './processor-time.ts';
import { crawlPages, figuresOf } from './scale-figures.ts';
import { addExpired, type Crowd, fillCrowd, openPlain } from './scale-fill.ts';
import { ask, type Load, load } from './scim-people.ts';

// `npm run bench:scale -- [--rounds N] [--sizes 20000,100000,1000000] [--on SQLite|PostgreSQL]`
// starts a daemon for each size, and measures them in turn (goals 5 and 9, issue 17). It measures
// the processor time of the daemon and the server for one request, and compares the median of the
// rounds with that of the next smaller size. A million accounts need 3 GB in the folder for
// temporary files.

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '20000' },
    on: { type: 'string' },
    ms: { type: 'string', default: '1500' },
  },
});
const rounds = Number(values.rounds);
const sizes = values.sizes.split(',').map(Number);
const ms = Number(values.ms);
const expired = 5000;
const print = (text: string) => process.stdout.write(text);

/** A filled database with its daemon, and a process that sweeps it. */
interface Subject {
  crowd: Crowd;
  database: string;
  daemon: Daemon;
  sweeper: ChildProcess;
  /** The PID of the database server's main process, if there is a server. */
  server: number[];
  /** The measured values, by name. */
  seen: Record<string, number[]>;
}

async function bench(name: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-scale-'));
  const keyFile = join(folder, 'master.key');
  await createKeyFile(keyFile);
  const servers: PostgresServer[] = [];
  const subjects: Subject[] = [];
  try {
    for (const size of sizes) {
      if (name === 'PostgreSQL') servers.push(await startPostgres());
      const database = servers.at(-1)?.url ?? `sqlite:${join(folder, `${size}.db`)}`;
      const server = servers.slice(-1).map(({ pid }) => pid);
      subjects.push(await openSubject({ database, keyFile, size, server }));
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const subject of subjects) await measure(subject, keyFile, round);
      print(`round ${round + 1} of ${rounds}, ${name}\n`);
    }
    if (name === 'SQLite') for (const subject of subjects) await measureBackup(subject, keyFile);
    for (const [at, { crowd }] of subjects.entries())
      print(table(`${crowd.count} accounts, ${name}`, figuresOf(subjects, at, expired)));
  } finally {
    for (const { daemon, sweeper } of subjects) {
      sweeper.disconnect();
      await daemon.stop();
    }
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function openSubject(at: {
  database: string;
  keyFile: string;
  size: number;
  server: number[];
}): Promise<Subject> {
  const { database, keyFile, size, server } = at;
  const began = performance.now();
  const crowd = await fillCrowd(database, keyFile, size);
  const filled = (performance.now() - began) / 1000;
  print(`${size} accounts in ${filled.toFixed(0)} s\n`);
  const env = { IDCTL_LIMITS_ENABLED: 'off', IDCTL_LOG_LEVEL: 'warn' };
  const daemon = await startDaemon({ database, keyFile, env });
  const sweeping = fileURLToPath(new URL('./scale-sweep.ts', import.meta.url));
  const sweeper = fork(sweeping, [database, keyFile]);
  await once(sweeper, 'message');
  const subject = { crowd, database, daemon, sweeper, server, seen: {} };
  await cost(subject, 'first page after a start', async (url) => {
    const began = performance.now();
    await ask(url, crowd, '/Users?count=100');
    return 1000 / (performance.now() - began);
  });
  note(subject, 'size', await sizeOf(database));
  return subject;
}

/** Measures one round. */
async function measure(subject: Subject, keyFile: string, round: number): Promise<void> {
  const { crowd, database } = subject;
  const { count, nameOf, slug } = crowd;
  const any = (most = count) => Math.floor(Math.random() * most);
  const get = (path: () => string): Load => ({ method: 'GET', path });
  const filters = {
    userName: () => `userName eq "${nameOf(any())}"`,
    externalId: () => `externalId eq "e${any() + 1}"`,
    'emails.value': () => `emails.value eq "${nameOf(any())}"`,
  };
  for (const [what, filter] of Object.entries(filters)) {
    const path = () => `/Users?filter=${encodeURIComponent(filter())}`;
    await cost(subject, what, (url) => load(url, crowd, get(path), ms));
  }
  const deep = () => `/Users?count=100&startIndex=${1 + any(count - 100)}`;
  const first = () => '/Users?count=100';
  await cost(subject, 'first page', (url) => load(url, crowd, get(first), ms, 1));
  await cost(subject, 'deep page', (url) => load(url, crowd, get(deep), ms, 1));
  const owner = { ...crowd, base: `/api/v1/orgs/${slug}/members`, token: crowd.owner };
  const top = () => '?limit=100';
  const after = () => `?limit=100&cursor=${crowd.accountOf(any(count - 100))}`;
  await cost(subject, 'first members', (url) => load(url, owner, get(top), ms, 1));
  await cost(subject, 'deep members', (url) => load(url, owner, get(after), ms, 1));
  const orgs = { ...owner, base: '/api/v1/orgs' };
  const search = () => `/${slug}/members?q=u${1 + any()}@else`;
  await cost(subject, 'search', (url) => load(url, orgs, get(search), ms, 1));
  const asked = () => `/${slug}/explain?user=${nameOf(any())}`;
  await cost(subject, 'explain', (url) => load(url, orgs, get(asked), ms, 1));
  const document = () => ({ document: { idctl: 1 } });
  const plan: Load = { method: 'POST', path: () => '/tenant-1/plan', body: document };
  await cost(subject, 'plan', (url) => load(url, orgs, plan, ms, 1));
  await cost(subject, 'sign-in', (url) => signIns(url, crowd));
  const made = () => ({ userName: `${crypto.randomUUID()}@new.test`, active: true });
  const create: Load = { method: 'POST', path: () => '/Users', body: made };
  await cost(subject, 'create', (url) => load(url, crowd, create, ms, 4));
  await cost(subject, 'crawl', async (url) => {
    const began = performance.now();
    for (let at = 0; at < crawlPages(count); at += 1) {
      const startIndex = 1 + 100 * Math.floor((at * count) / 100 / crawlPages(count));
      await ask(url, crowd, `/Users?count=100&startIndex=${startIndex}`);
    }
    return (1000 * crawlPages(count)) / (performance.now() - began);
  });
  for (const command of ['org list', 'status', 'doctor'])
    await time(subject, command, () => run(subject, keyFile, command.split(' '), 'any'));
  await sweep(subject, 'sweep of nothing');
  await addExpired(database, 1 + round * expired, expired);
  await sweep(subject, 'sweep');
}

/** Records the processor time of one request. `work` returns the requests a second. */
async function cost(
  subject: Subject,
  what: string,
  work: (url: string) => Promise<number>,
): Promise<void> {
  const pids = [subject.daemon.pid, ...subject.server];
  const spent = async () => {
    const times = await Promise.all(pids.map(processorTime));
    return times.reduce((sum, each) => sum + each, 0);
  };
  const [before, began] = [await spent(), performance.now()];
  const rate = await work(subject.daemon.url);
  const done = (rate * (performance.now() - began)) / 1000;
  note(subject, what, ((await spent()) - before) / done);
}

/** Measures sign-ins a second, each of a random account. */
async function signIns(url: string, crowd: Crowd): Promise<number> {
  const any = () => {
    for (;;) {
      const n = Math.floor(Math.random() * crowd.count);
      if (crowd.hasPassword(n)) return n;
    }
  };
  const shot = {
    path: '/api/v1/auth/login',
    method: 'POST' as const,
    expect: 200,
    get body() {
      return { email: crowd.nameOf(any()), password: crowd.password };
    },
  };
  return (await loadShots(url, shot, 2, ms)).rate;
}

async function sweep(subject: Subject, what: string): Promise<void> {
  subject.sweeper.send('sweep');
  const [{ ms, longest }] = await once(subject.sweeper, 'message');
  note(subject, what, ms);
  note(subject, `${what}, longest pause`, longest);
}

async function measureBackup(subject: Subject, keyFile: string): Promise<void> {
  const file = `${subject.database.replace('sqlite:', '')}.backup`;
  await time(subject, 'backup', () => run(subject, keyFile, ['backup', file]));
  note(subject, 'size of the backup', (await stat(file)).size / 1e6);
  await rm(file);
}

/** Runs a command on the database. `doctor` and `status` exit with another code if they warn. */
async function run(
  { database }: Subject,
  keyFile: string,
  command: string[],
  expected: 0 | 'any' = 0,
): Promise<void> {
  const env = { ...surroundings(), IDCTL_DATABASE: database, IDCTL_KEY_FILE: keyFile };
  const child = spawn(process.execPath, [main, ...command], {
    env,
    stdio: ['ignore', 'ignore', expected === 0 ? 'inherit' : 'ignore'],
  });
  const [code] = await once(child, 'close');
  if (expected === 0 && code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`);
}

async function sizeOf(database: string): Promise<number> {
  const file = /^sqlite:(.*)/.exec(database)?.[1];
  if (file !== undefined) return (await stat(file)).size / 1e6;
  const connection = await openPlain(database);
  const [row] = await connection.all('SELECT pg_database_size(current_database()) AS size');
  await connection.close();
  return Number(row?.['size']) / 1e6;
}

async function time(subject: Subject, what: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  await work();
  note(subject, what, performance.now() - began);
}

function note({ seen }: Subject, what: string, value: number): void {
  seen[what] = [...(seen[what] ?? []), value];
}

for (const name of ['SQLite', 'PostgreSQL'] as const) {
  if (values.on === undefined || values.on === name) await bench(name);
}
