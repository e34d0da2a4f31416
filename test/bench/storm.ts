import { setTimeout as pause } from 'node:timers/promises';
import { type Figure, figure, median } from './figures.ts';
import { load, type Shot, storm } from './load.ts';
import type { Stage } from './stage.ts';

const measuredMs = 2000;
const connections = 4;

/** Measures other requests while 16 wrong passwords are always in flight (goal 2). */
export async function benchStorm(stage: Stage, rounds: number): Promise<Figure[]> {
  const { meByCookie, meByToken } = stage.shots;
  return [
    ...(await underStorm(stage, 'GET /me by cookie', meByCookie, rounds)),
    ...(await underStorm(stage, 'GET /me by token', meByToken, rounds)),
  ];
}

async function underStorm(
  stage: Stage,
  what: string,
  shot: Shot,
  rounds: number,
): Promise<Figure[]> {
  const [kept, p99, delay] = [[], [], []] as [number[], number[], number[]];
  for (let round = 0; round < rounds; round += 1) {
    const measure = () => load(stage.url, shot, connections, measuredMs);
    const lone = await measure();
    const calm = storm(stage.url, stage.shots.wrong, 16);
    await pause(300);
    const stormy = await stage.loopDelay(measure);
    await calm();
    kept.push((100 * stormy.result.rate) / lone.rate);
    p99.push(stormy.result.p99);
    delay.push(stormy.p99);
  }
  return [
    figure(`${what}, of its lone rate`, kept, '%', { least: 60 }),
    figure(`${what}, p99`, median(p99), 'ms', { most: 15 }),
    figure(`${what}, event-loop delay p99`, delay, 'ms', { most: 15 }),
  ];
}
