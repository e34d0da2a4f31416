import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Counts the turns of the event loop until the work is done. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await yieldToEventLoop();
    turns += 1;
  }
  await done;
  return turns;
}
