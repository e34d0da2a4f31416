import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { untilReady } from '../support/daemon.ts';
import { freePorts } from '../support/ports.ts';
import { startPostgres } from '../support/postgres.ts';
import { flow, registerApplication, signedIn } from './code-flow.ts';
import { figure, lineThrough, table } from './figures.ts';
import { load } from './load.ts';
import { enterProtected, protectedOrigin } from './protected.ts';
import { buildRelease, type Release } from './release.ts';
import { type People, populate, load as provision } from './scim-people.ts';
import { readResident } from './soak-samples.ts';
import { populateStage, shotsOf } from './stage.ts';

const restMs = 60_000;
const widened = {
  IDCTL_LIMITS_ACCOUNT_FAILURES: '1000000',
  IDCTL_LIMITS_ADDRESS_FAILURES: '1000000',
  IDCTL_LIMITS_TOKEN_REQUESTS: '1000000',
};

/**
 * Prints the resident memory of an installed daemon as `ps` shows it: a minute after the start, at
 * most during mixed load, and a minute after the load (goal 7). Nothing is forced or watched.
 */
export async function benchMemory(
  name: 'SQLite' | 'PostgreSQL',
  seconds: number,
  print: (text: string) => void,
): Promise<void> {
  const release = await buildRelease();
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const server = name === 'PostgreSQL' ? await startPostgres() : null;
  const database = server?.url ?? `sqlite:${join(folder, 'idctl.db')}`;
  const keyFile = join(folder, 'master.key');
  try {
    await createKeyFile(keyFile);
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const token = await populateStage(database, keyFile);
    const application = await registerApplication(database, keyFile, {
      forwardAuthOrigins: [protectedOrigin],
    });
    const [people] = await populate(database, keyFile, [1000]);
    if (people === undefined) throw new Error('no people');
    const env = { IDCTL_DATABASE: database, IDCTL_KEY_FILE: keyFile, IDCTL_BASE_URL: url };
    const daemon = await start(release, url, env);
    const resident = () => readResident(daemon.pid);
    await pause(restMs);
    const idle = await resident();
    const mixed = await mix(url, { people, token, application, ms: seconds * 1000 });
    const { peak, rise } = await recordWhile(mixed(), resident);
    await pause(restMs);
    const after = await resident();
    print(
      table(`Memory, ${name}, ${seconds} s of load`, [
        figure('a minute after the start', idle, 'MB', { most: 100 }),
        figure('peak during the load', peak, 'MB'),
        figure('rise over the last two thirds of the load', rise, 'MB', { most: 12 }),
        figure('a minute after the load', after, 'MB', { most: 200 }),
      ]),
    );
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
  } finally {
    await server?.stop();
    await release.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(
  { idctl }: Release,
  url: string,
  env: Record<string, string>,
): Promise<ChildProcess> {
  const daemon = spawn(idctl, ['serve', '--listen', new URL(url).host], {
    env: { PATH: process.env['PATH'] ?? '', ...env, ...widened },
    stdio: 'ignore',
  });
  await untilReady(url, () => (daemon.exitCode === null ? null : `${daemon.exitCode}`));
  return daemon;
}

interface Mix {
  people: People;
  token: string;
  application: Parameters<typeof signedIn>[1];
  ms: number;
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

/**
 * Prepares the mixed load. At all times there are two sign-ins by password, four requests for the
 * own account, four of forward auth, two SCIM creations, four SCIM filters and one code flow.
 */
async function mix(url: string, { people, token, application, ms }: Mix) {
  const { right, meByToken } = shotsOf('', token);
  const browser = await signedIn(url, application);
  const verify = await enterProtected(url, browser.browser);
  const filter = () => {
    const name = people.nameOf(Math.floor(Math.random() * people.count));
    return `/Users?filter=${encodeURIComponent(`userName eq "${name}"`)}`;
  };
  const flows = async () => {
    const began = performance.now();
    while (performance.now() - began < ms) await flow(browser);
  };
  return () =>
    Promise.all([
      load(url, right, 2, ms),
      load(url, meByToken, 4, ms),
      load(url, verify, 4, ms),
      provision(url, people, creating, ms, 2),
      provision(url, people, { method: 'GET', path: filter }, ms, 4),
      flows(),
    ]);
}

/** Records the resident memory during the load: its peak, and the rise of a line fitted to it. */
async function recordWhile(load: Promise<unknown>, resident: () => Promise<number>) {
  const recorded: [number, number][] = [];
  const began = performance.now();
  let over = false;
  const ending = load.finally(() => {
    over = true;
  });
  while (!over) {
    await pause(1000);
    recorded.push([performance.now() - began, await resident()]);
  }
  await ending;
  return { peak: Math.max(...recorded.map(([, rss]) => rss)), rise: lineThrough(recorded).rise };
}
