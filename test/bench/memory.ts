import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { untilReady } from '../support/daemon.ts';
import { freePorts } from '../support/ports.ts';
import { type Figure, figure, median, table } from './figures.ts';
import { load } from './load.ts';
import { buildRelease, type Release } from './release.ts';
import { type People, populate, load as provision } from './scim-people.ts';
import { populateStage, shotsOf } from './stage.ts';

/** How a daemon is started: by the wrapper as installed, or by Node with these. */
interface Setting {
  name: string;
  flags: string[] | 'installed';
  env: Record<string, string>;
}

const one = { MALLOC_ARENA_MAX: '1' };
const settings: Setting[] = [
  { name: 'nothing set', flags: [], env: {} },
  { name: 'the former wrapper', flags: ['--min-semi-space-size=16'], env: {} },
  { name: 'two arenas', flags: [], env: { MALLOC_ARENA_MAX: '2' } },
  { name: 'one arena', flags: [], env: one },
  { name: 'blocks mapped', flags: [], env: { MALLOC_MMAP_THRESHOLD_: '1048576' } },
  { name: 'one arena, 2 MB young', flags: ['--max-semi-space-size=2'], env: one },
  { name: 'one arena, 8 MB young', flags: ['--max-semi-space-size=8'], env: one },
  { name: 'bin/idctl', flags: 'installed', env: {} },
];

// Loaded before the daemon. As TypeScript it would load the compiler too, which takes 10 MB.
const probe = `process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ ...process.memoryUsage(), cpu: (user + system) / 1000 });
});
process.channel.unref();`;

const signInMs = 2000;
const writes = 2000;

interface Sample {
  rss: number;
  heap: number;
  external: number;
  /** The processor time so far, in milliseconds. */
  cpu: number;
}

/** A daemon under one of the settings. */
interface Subject {
  setting: Setting;
  url: string;
  measure(): Promise<Sample>;
  stop(): Promise<void>;
}

/**
 * Memory when idle, after sign-ins, after writes and after mixed load, for each setting. All daemons
 * run at once and are loaded in turn, so the speeds of one round can be compared (goal 7).
 */
export async function benchMemory(
  rounds: number,
  seconds: number,
  print: (text: string) => void,
): Promise<void> {
  const release = await buildRelease();
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const subjects: Subject[] = [];
  try {
    const keyFile = join(folder, 'master.key');
    await createKeyFile(keyFile);
    const first = join(folder, 'first.db');
    const token = await populateStage(`sqlite:${first}`, keyFile);
    const [people] = await populate(`sqlite:${first}`, keyFile, [1000]);
    if (people === undefined) return;
    for (const [at, setting] of settings.entries()) {
      const file = join(folder, `${at}.db`);
      await copyFile(first, file);
      subjects.push(await startSubject(release, setting, file, keyFile));
    }
    await pause(3000);
    const samples = subjects.map((): Sample[] => []);
    const sample = async () => {
      for (const [at, subject] of subjects.entries()) samples[at]?.push(await subject.measure());
    };
    await sample();
    const signIns = await costs(subjects, rounds, async (url) => {
      const { rate } = await load(url, shotsOf('', '').right, 2, signInMs);
      return { done: (rate * signInMs) / 1000, rate };
    });
    await sample();
    const writing = await costs(subjects, 4, async (url) => {
      let done = 0;
      while (done < writes / 4) done += (await provision(url, people, creating, 500, 8)) / 2;
      return { done, rate: done };
    });
    await sample();
    for (const { url } of subjects) await mix(url, people, token, seconds * 1000);
    await sample();
    for (const [at, { setting }] of subjects.entries()) {
      const installed = setting.flags === 'installed';
      const against = (rounds: number[][]) =>
        median(rounds.map((round) => (100 * (round[at] ?? 0)) / (round[0] ?? 1)));
      print(
        table(`Memory, ${setting.name}`, [
          ...figuresOf(samples[at] ?? [], installed),
          figure('rate of sign-ins, against nothing set', against(signIns.rates), '%'),
          figure('processor time of a sign-in, against it', against(signIns.cpu), '%', {
            most: 105,
          }),
          figure('processor time of a write, against it', against(writing.cpu), '%'),
        ]),
      );
    }
  } finally {
    for (const subject of subjects) await subject.stop();
    await release.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

function figuresOf(samples: Sample[], installed: boolean): Figure[] {
  const moments = ['idle', 'after sign-ins', `after ${writes} writes`, 'after mixed load'];
  const most = [110, undefined, undefined, 240];
  return moments.flatMap((moment, at) => {
    const { rss = 0, heap = 0, external = 0 } = samples[at] ?? {};
    const goal = most[at];
    return [
      figure(moment, rss, 'MB', installed && goal !== undefined ? { most: goal } : undefined),
      figure('  heap used', heap, 'MB'),
      figure('  external', external, 'MB'),
    ];
  });
}

async function startSubject(
  { idctl }: Release,
  setting: Setting,
  file: string,
  keyFile: string,
): Promise<Subject> {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const program =
    setting.flags === 'installed'
      ? [idctl]
      : [process.execPath, ...setting.flags, resolve(dirname(idctl), '../dist/main.js')];
  const [run = '', ...words] = [...program, 'serve', '--listen', `127.0.0.1:${port}`];
  const child = spawn(run, words, {
    env: {
      PATH: process.env['PATH'] ?? '',
      UV_THREADPOOL_SIZE: '8',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(probe)}`,
      IDCTL_DATABASE: `sqlite:${file}`,
      IDCTL_KEY_FILE: keyFile,
      IDCTL_BASE_URL: url,
      IDCTL_LIMITS_ENABLED: 'off',
      ...setting.env,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  await untilReady(url, () => (child.exitCode === null ? null : `${child.exitCode}`));
  return {
    setting,
    url,
    measure: () => measure(child),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function measure(child: ChildProcess): Promise<Sample> {
  child.send('measure');
  const [{ heapUsed, external, cpu }] = await once(child, 'message');
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  const rss = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  return { rss, heap: heapUsed / 1048576, external: external / 1048576, cpu };
}

/** Rates and milliseconds of processor time for each request, by round and subject. */
async function costs(
  subjects: Subject[],
  rounds: number,
  work: (url: string) => Promise<{ done: number; rate: number }>,
): Promise<{ rates: number[][]; cpu: number[][] }> {
  const [rates, cpu]: [number[][], number[][]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const [rateRow, cpuRow]: [number[], number[]] = [[], []];
    for (const { url, measure } of subjects) {
      const before = await measure();
      const { done, rate } = await work(url);
      rateRow.push(rate);
      cpuRow.push(((await measure()).cpu - before.cpu) / done);
    }
    rates.push(rateRow);
    cpu.push(cpuRow);
  }
  return { rates, cpu };
}

let serial = 0;
const creating = {
  method: 'POST',
  path: () => '/Users',
  body: () => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `new${serial++}@elsewhere.test`,
    name: { givenName: 'Ada', familyName: 'Byron' },
  }),
} as const;

/** Sign-ins, requests by token, provisioning and filters at once. */
async function mix(url: string, people: People, token: string, ms: number): Promise<void> {
  const { right, meByToken } = shotsOf('', token);
  const filter = () => {
    const name = people.nameOf(Math.floor(Math.random() * people.count));
    return `/Users?filter=${encodeURIComponent(`userName eq "${name}"`)}`;
  };
  await Promise.all([
    load(url, right, 2, ms),
    load(url, meByToken, 8, ms),
    provision(url, people, creating, ms, 2),
    provision(url, people, { method: 'GET', path: filter }, ms, 4),
  ]);
}
