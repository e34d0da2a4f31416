import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { type Figure, figure, lineThrough, median, table } from './figures.ts';
import { load } from './load.ts';
import { type Sample, type Subject, settings, startSubject } from './memory-subject.ts';
import { buildRelease } from './release.ts';
import { type People, populate, load as provision } from './scim-people.ts';
import { populateStage, shotsOf } from './stage.ts';

const signInMs = 2000;
const writes = 2000;
const mayRise = 12;

/**
 * Measures memory when idle, after sign-ins, after writes and after mixed load, for each setting.
 * All daemons run at once and are loaded in turn, so the speeds of one round can be compared (goal
 * 7).
 */
export async function benchMemory(
  rounds: number,
  seconds: number,
  print: (text: string) => void,
  only?: string,
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
    const chosen = settings.filter(({ name }) => only === undefined || name === only);
    for (const [at, setting] of chosen.entries()) {
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
    const rises: number[] = [];
    for (const { url, measure } of subjects) {
      const mixed = mix(url, people, token, seconds * 1000);
      rises.push((await recordWhile(mixed, measure)).rise);
    }
    await sample();
    for (const [at, { setting }] of subjects.entries()) {
      const installed = setting.flags === 'installed';
      const against = (rounds: number[][]) =>
        median(rounds.map((round) => (100 * (round[at] ?? 0)) / (round[0] ?? 1)));
      print(
        table(`Memory, ${setting.name}`, [
          ...figuresOf(samples[at] ?? [], installed),
          figure('rise over the last two thirds of it', rises[at] ?? 0, 'MB', { most: mayRise }),
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

/** Records the resident memory during the load, and fits a line to it. */
async function recordWhile(load: Promise<void>, measure: Subject['measure']) {
  const recorded: [number, number][] = [];
  const began = performance.now();
  let over = false;
  const ending = load.finally(() => {
    over = true;
  });
  while (!over) {
    await pause(500);
    recorded.push([performance.now() - began, (await measure()).rss]);
  }
  await ending;
  return lineThrough(recorded);
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

/** Runs sign-ins, requests by token, provisioning and filters at once. */
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
