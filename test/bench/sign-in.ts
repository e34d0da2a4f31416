import { argon2id, hash, verify } from 'argon2';
import type { Peer } from './child.ts';
import { type Figure, figure, median } from './figures.ts';
import { load, openLine, type Shot } from './load.ts';
import type { Stage } from './stage.ts';

const password = 'correct horse battery';
const perRound = 20;
const crowdMs = 2000;

/**
 * Measures the cost of a sign-in besides the hash, and whether the time of a refusal reveals its
 * reason (goal 1, security P7). `express` only checks a password behind Express. Its rate is the
 * best that a sign-in over HTTP can reach on this machine, with this client beside it.
 */
export async function benchSignIn(stage: Stage, express: Peer, rounds: number): Promise<Figure[]> {
  const { right, wrong, unknown, disabled } = stage.shots;
  const bare = await bareVerify();
  const [line, least] = [openLine(stage.url), openLine(express.url)];
  const ratios: Ratios = { hash: [], express: [] };
  const refusals: Record<string, number[]> = { wrong: [], unknown: [], disabled: [] };
  for (let round = 0; round < rounds; round += 1) {
    const [alone, behind, signIns] = [[], [], []] as [number[], number[], number[]];
    for (let turn = 0; turn < perRound; turn += 1) {
      alone.push(await bare());
      behind.push(await least.time(bareSignIn));
      signIns.push(await line.time(right));
      const each: [string, Shot][] = [
        ['wrong', wrong],
        ['unknown', unknown],
        ['disabled', disabled],
      ];
      for (const [why, shot] of each) refusals[why]?.push(await line.time(shot));
    }
    ratios.hash.push((100 * median(alone)) / median(signIns));
    ratios.express.push((100 * median(behind)) / median(signIns));
  }
  await Promise.all([line.close(), least.close()]);
  const crowd = await inCrowds(stage, express, bare, rounds);
  const medians = Object.values(refusals).map(median);
  const spread = (100 * (Math.max(...medians) - Math.min(...medians))) / Math.min(...medians);
  return [
    figure('sign-in, rate against bare argon2.verify', ratios.hash, '%', { least: 85 }),
    figure('  against the same behind Express', ratios.express, '%'),
    figure('the same, 16 in flight', crowd.hash, '%', { least: 85 }),
    figure('  against the same behind Express', crowd.express, '%'),
    ...Object.entries(refusals).map(([why, taken]) => figure(`refused: ${why}`, taken, 'ms')),
    figure('refused: slowest against quickest', spread, '%', { most: 5 }),
  ];
}

const bareSignIn: Shot = { path: '/', method: 'POST', body: { password }, expect: 200 };

/**
 * Ratios in per cent, one for each round: against the bare hash, and against the hash behind
 * Express.
 */
interface Ratios {
  hash: number[];
  express: number[];
}

/** Measures the rate of sign-ins with 16 in flight, against the rate of bare checks. */
async function inCrowds(
  stage: Stage,
  express: Peer,
  bare: () => Promise<number>,
  rounds: number,
): Promise<Ratios> {
  const ratios: Ratios = { hash: [], express: [] };
  for (let round = 0; round < rounds; round += 1) {
    let checks = 0;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (; performance.now() - began < crowdMs; checks += 1) await bare();
      }),
    );
    const alone = (checks * 1000) / (performance.now() - began);
    const behind = (await load(express.url, bareSignIn, 16, crowdMs)).rate;
    const { rate } = await load(stage.url, stage.shots.right, 16, crowdMs);
    ratios.hash.push((100 * rate) / alone);
    ratios.express.push((100 * rate) / behind);
  }
  return ratios;
}

/** Returns a function that only checks a password, and returns the duration in milliseconds. */
async function bareVerify(): Promise<() => Promise<number>> {
  const hashed = await hash(password, {
    type: argon2id,
    memoryCost: 19456,
    timeCost: 2,
    parallelism: 1,
  });
  return async () => {
    const began = performance.now();
    await verify(hashed, password);
    return performance.now() - began;
  };
}
