import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import PQueue from 'p-queue';

/**
 * Runs the work once it has passed every queue, in the given order. Work that has not begun after
 * `patience` milliseconds is dropped, and the caller gets the error `late()`.
 */
export function waitForTurn<T>(
  queues: (() => PQueue)[],
  work: () => Promise<T>,
  { patience, late }: { patience: number; late: () => Error },
): Promise<T> {
  if (queues.every((queue) => hasRoom(queue()))) return passThrough(queues, work);
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(late()), patience);
  // A queue would start the work in the async context of the work before it.
  const begin = AsyncLocalStorage.bind(() => {
    clearTimeout(timer);
    return work();
  });
  return passThrough(queues, begin, waiting.signal);
}

/** Whether the queue would begin new work immediately. */
function hasRoom({ size, pending, concurrency }: PQueue): boolean {
  return size === 0 && pending < concurrency;
}

function passThrough<T>(
  queues: (() => PQueue)[],
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const options = signal === undefined ? {} : { signal };
  const pass = queues.reduceRight((next, queue) => () => queue().add(next, options), work);
  return pass();
}

/** The errors of several pieces of work. */
export class Failures extends Error {
  readonly errors: unknown[];
  constructor(errors: unknown[]) {
    super(`${errors.length} pieces of work failed`);
    this.errors = errors;
  }
}

/** Waits for all work, so that no failure keeps other work from its end. Then throws the failures. */
export async function finishAll(work: Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(work);
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  if (errors.length > 0) throw new Failures(errors);
}

/** Returns a function that finds the queue of a key. A queue runs one piece of work at a time. */
export function queueForEach(): (key: string) => PQueue {
  const queues = new Map<string, PQueue>();
  return (key) => {
    const queue = queues.get(key) ?? new PQueue({ concurrency: 1 });
    if (!queues.has(key))
      queues.set(
        key,
        queue.on('idle', () => queues.delete(key)),
      );
    return queue;
  };
}

/**
 * Returns a function to call at each step of long work. Every `max` calls, it returns a promise
 * that lets other work run; otherwise null.
 */
export function countSteps(max = 200): () => Promise<void> | null {
  let left = max;
  return () => {
    left -= 1;
    if (left > 0) return null;
    left = max;
    return yieldToEventLoop();
  };
}

/** Does the work for slices of a list that may be long, and lets other work run in between. */
export async function inSlices<Item>(
  items: readonly Item[],
  work: (some: Item[]) => Promise<void> | void,
  size = 500,
): Promise<void> {
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) await yieldToEventLoop();
    await work(items.slice(at, at + size));
  }
}

/** Yields the items of a list that may be long, and lets other work run from time to time. */
export async function* slowly<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  const step = countSteps();
  for (const item of items) {
    const turn = step();
    if (turn !== null) await turn;
    yield item;
  }
}
