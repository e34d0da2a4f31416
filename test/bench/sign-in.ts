import { argon2id, hash, verify } from 'argon2';
import { type Figure, figure, median } from './figures.ts';
import { type Shot, times } from './load.ts';
import type { Stage } from './stage.ts';

const perRound = 20;

/** What a sign-in costs beside the hash, and whether the time of a refusal tells why (goal 1, security P7). */
export async function benchSignIn(stage: Stage, rounds: number): Promise<Figure[]> {
  const { right, wrong, unknown, disabled } = stage.shots;
  const bare = await bareVerify();
  const ratios: number[] = [];
  const refusals: Record<string, number[]> = { wrong: [], unknown: [], disabled: [] };
  for (let round = 0; round < rounds; round += 1) {
    const [alone, signIns] = [[], []] as [number[], number[]];
    for (let turn = 0; turn < perRound; turn += 1) {
      alone.push(await bare());
      signIns.push(...(await times(stage.url, [right])));
      const each: [string, Shot][] = [
        ['wrong', wrong],
        ['unknown', unknown],
        ['disabled', disabled],
      ];
      for (const [why, shot] of each) refusals[why]?.push(...(await times(stage.url, [shot])));
    }
    ratios.push((100 * median(alone)) / median(signIns));
  }
  const medians = Object.values(refusals).map(median);
  const spread = (100 * (Math.max(...medians) - Math.min(...medians))) / Math.min(...medians);
  return [
    figure('sign-in, rate against bare argon2.verify', median(ratios), '%', { least: 85 }),
    ...Object.entries(refusals).map(([why, taken]) => figure(`refused: ${why}`, median(taken), 'ms')),
    figure('refused: slowest against quickest', spread, '%', { most: 5 }),
  ];
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
