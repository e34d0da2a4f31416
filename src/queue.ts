import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';

/**
 * Runs the work when each queue in turn has room, the first one first. Work that has not begun
 * after `patience` milliseconds is dropped, and the caller gets the error `late()`.
 */
export function waitForTurn<T>(
  queues: (() => PQueue)[],
  work: () => Promise<T>,
  { patience, late }: { patience: number; late: () => Error },
): Promise<T> {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(late()), patience);
  // A queue would start the work in the async context of the work before it.
  const begin = AsyncLocalStorage.bind(() => {
    clearTimeout(timer);
    return work();
  });
  const pass = queues.reduceRight(
    (next, queue) => () => queue().add(next, { signal: waiting.signal }),
    begin,
  );
  return pass();
}

/** A queue for each key, one piece of work at a time. A queue exists while it has work. */
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
