import { argon2id, hash, verify } from 'argon2';
import { type Figure, figure, median } from './figures.ts';
import { load, openLine, type Shot } from './load.ts';
import type { Stage } from './stage.ts';

const perRound = 20;
const crowdMs = 2000;

/** What a sign-in costs beside the hash, and whether the time of a refusal tells why (goal 1, security P7). */
export async function benchSignIn(stage: Stage, rounds: number): Promise<Figure[]> {
  const { right, wrong, unknown, disabled } = stage.shots;
  const bare = await bareVerify();
  const line = openLine(stage.url);
  const ratios: number[] = [];
  const refusals: Record<string, number[]> = { wrong: [], unknown: [], disabled: [] };
  for (let round = 0; round < rounds; round += 1) {
    const [alone, signIns] = [[], []] as [number[], number[]];
    for (let turn = 0; turn < perRound; turn += 1) {
      alone.push(await bare());
      signIns.push(await line.time(right));
      const each: [string, Shot][] = [
        ['wrong', wrong],
        ['unknown', unknown],
        ['disabled', disabled],
      ];
      for (const [why, shot] of each) refusals[why]?.push(await line.time(shot));
    }
    ratios.push((100 * median(alone)) / median(signIns));
  }
  await line.close();
  const crowd = await inCrowds(stage, bare, rounds);
  const medians = Object.values(refusals).map(median);
  const spread = (100 * (Math.max(...medians) - Math.min(...medians))) / Math.min(...medians);
  return [
    figure('sign-in, rate against bare argon2.verify', median(ratios), '%', { least: 85 }),
    figure('the same, 16 in flight', median(crowd), '%', { least: 85 }),
    ...Object.entries(refusals).map(([why, taken]) =>
      figure(`refused: ${why}`, median(taken), 'ms'),
    ),
    figure('refused: slowest against quickest', spread, '%', { most: 5 }),
  ];
}

/** The rate of sign-ins against that of bare checks, 16 of each in flight, in per cent. */
async function inCrowds(
  stage: Stage,
  bare: () => Promise<number>,
  rounds: number,
): Promise<number[]> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    let checks = 0;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (; performance.now() - began < crowdMs; checks += 1) await bare();
      }),
    );
    const alone = (checks * 1000) / (performance.now() - began);
    ratios.push((100 * (await load(stage.url, stage.shots.right, 16, crowdMs)).rate) / alone);
  }
  return ratios;
}

/** One check of a password with nothing around it, and how long it took. */
async function bareVerify(): Promise<() => Promise<number>> {
  const hashed = await hash('correct horse battery', {
    type: argon2id,
    memoryCost: 19456,
    timeCost: 2,
    parallelism: 1,
  });
  return async () => {
    const began = performance.now();
    await verify(hashed, 'correct horse battery');
    return performance.now() - began;
  };
}
