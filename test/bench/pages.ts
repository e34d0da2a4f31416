import { type Figure, figure } from './figures.ts';
import { load } from './load.ts';
import type { Stage } from './stage.ts';

/**
 * Measures the processor time of the daemon for a page with 50 people. That is at least the time of
 * its main thread.
 */
export async function benchPages(stage: Stage, rounds: number): Promise<Figure[]> {
  const { headers } = stage.shots.meByCookie;
  const page = { path: '/orgs/acme/people', expect: 200, ...(headers && { headers }) };
  await load(stage.url, page, 1, 3000);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = await stage.used();
    const began = performance.now();
    const { rate } = await load(stage.url, page, 1, 2000);
    const pages = (rate * (performance.now() - began)) / 1000;
    times.push(((await stage.used()) - before) / pages);
  }
  return [figure('a page of 50 people', times, 'ms', { most: 15 })];
}
