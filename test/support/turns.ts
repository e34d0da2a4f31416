import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** How often others had their turn until the work was done. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await turnOfTheLoop();
    turns += 1;
  }
  await done;
  return turns;
}
