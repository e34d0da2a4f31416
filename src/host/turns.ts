import { AsyncLocalStorage } from 'node:async_hooks';

/** Shares the process between keys, such as organizations. `createTurns` creates it. */
export interface Turns {
  /**
   * Runs the work when it is its turn. If the turn does not come within `patience` milliseconds,
   * drops the work and throws `late`. Without `patience`, the work waits as long as it takes.
   */
  run<T>(key: string, work: () => Promise<T>, waiting?: Patience): Promise<T>;
  /** The number of pieces of work that run, and that wait. */
  load(): { running: number; waiting: number };
}

export interface Patience {
  patience: number;
  late: () => Error;
}

/**
 * Runs at most `each` pieces of work of one key at a time, and at most `all` in total. The others
 * wait. The keys take turns, however much work of each is waiting.
 */
export function createTurns({ each, all }: { each: number; all: number }): Turns {
  const running = new Map<string, number>();
  // The first key that may run is the next. A key goes to the end of the map after its turn.
  const waiting = new Map<string, (() => void)[]>();
  let total = 0;

  const mayRun = (key: string) => total < all && (running.get(key) ?? 0) < each;
  const enter = (key: string) => {
    total += 1;
    running.set(key, (running.get(key) ?? 0) + 1);
  };
  const leave = (key: string) => {
    total -= 1;
    const left = (running.get(key) ?? 1) - 1;
    if (left === 0) running.delete(key);
    else running.set(key, left);
    startNext();
  };
  const startNext = () => {
    for (const [key, queue] of waiting) {
      if (!mayRun(key)) continue;
      const [next, ...others] = queue;
      waiting.delete(key);
      if (others.length > 0) waiting.set(key, others);
      next?.();
      return;
    }
  };
  const forget = (key: string, begin: () => void) => {
    const others = (waiting.get(key) ?? []).filter((other) => other !== begin);
    if (others.length > 0) waiting.set(key, others);
    else waiting.delete(key);
  };

  const wait = (key: string, how: Patience | undefined) =>
    new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      // The work that ends must not lend its async context to the work that begins.
      const begin = AsyncLocalStorage.bind(() => {
        clearTimeout(timer);
        enter(key);
        resolve();
      });
      waiting.set(key, [...(waiting.get(key) ?? []), begin]);
      if (how === undefined) return;
      timer = setTimeout(() => {
        forget(key, begin);
        reject(how.late());
      }, how.patience);
    });

  return {
    async run(key, work, how) {
      if (mayRun(key)) enter(key);
      else await wait(key, how);
      try {
        return await work();
      } finally {
        leave(key);
      }
    },
    load: () => ({
      running: total,
      waiting: [...waiting.values()].reduce((sum, { length }) => sum + length, 0),
    }),
  };
}
