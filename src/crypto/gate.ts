import { Refusal } from '../errors.ts';

interface Waiter {
  start: () => void;
  timer: NodeJS.Timeout;
}

// More would wait in vain: at some 40 hashes a second and core, the last of these just meets its two seconds.
const waitersPerPlace = 80;

/** What `createGate` makes. */
export interface Gate {
  <T>(work: () => Promise<T>): Promise<T>;
  /** How many run now, and how many wait. */
  load(): { running: number; waiting: number };
}

/**
 * Lets as many works run at once as there are places at the moment; the others wait in order, at most
 * `maxWaitMs`. Refuses `overloaded` when the time is over or the queue is full.
 */
export function createGate(places: () => number, maxWaitMs: number): Gate {
  const queue: Waiter[] = [];
  let running = 0;

  const enter = () =>
    new Promise<void>((resolve, reject) => {
      const most = places();
      if (running < most) {
        running += 1;
        resolve();
        return;
      }
      if (queue.length >= most * waitersPerPlace) {
        reject(overloaded(maxWaitMs));
        return;
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(overloaded(maxWaitMs));
      }, maxWaitMs);
      const waiter = { start: resolve, timer };
      queue.push(waiter);
    });

  const leave = () => {
    running -= 1;
    for (let most = places(); running < most; running += 1) {
      const next = queue.shift();
      if (next === undefined) return;
      clearTimeout(next.timer);
      next.start();
    }
  };

  const pass = async <T>(work: () => Promise<T>): Promise<T> => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
  return Object.assign(pass, { load: () => ({ running, waiting: queue.length }) });
}

function overloaded(maxWaitMs: number): Refusal {
  return new Refusal('overloaded', 'too many passwords are being checked at this moment', {
    hint: 'try again in a few seconds',
    retryAfter: Math.max(1, Math.ceil(maxWaitMs / 1000)),
  });
}
