import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../errors.ts';

interface Waiter {
  client: string | null;
  /** The position in the queue of known clients. The waiter with the lowest one is next. */
  place: number;
  start: () => void;
  timer: NodeJS.Timeout;
}

// A longer queue is useless: a core makes about 40 hashes a second, and an item waits at most two
// seconds.
const waitersPerPlace = 80;

// Refusals are delayed so that refused clients do not retry immediately: at most this many at a
// time.
const maxHeld = 1000;

/**
 * The maximum number of items of one known client in the queue of known clients. More of its items
 * queue with strangers.
 */
const waitersPerClient = 4;

/** Limits how much work runs at the same time, and queues the rest. `createGate` creates it. */
export interface Gate {
  /** Runs the work in turn. `client` names the known client that asks; null for a stranger. */
  <T>(work: () => Promise<T>, client?: string | null): Promise<T>;
  /**
   * Refuses with `overloaded` if the queue for this client is full. Call it first, so that a
   * refusal costs nothing else.
   */
  refuseIfFull(client: string | null): Promise<void>;
  /** The number of running items, and of waiting ones. */
  load(): { running: number; waiting: number };
}

/**
 * Runs at most `places()` items at the same time. Others wait up to `maxWaitMs`. Known clients have
 * their own queue, and every second free slot, so strangers cannot shut them out (security P8).
 * Known clients take turns, however many items each has. Refuses with `overloaded` after
 * `maxWaitMs`, or if the queue is full.
 */
export function createGate(places: () => number, maxWaitMs: number): Gate {
  const strangers: Waiter[] = [];
  const known: Waiter[] = [];
  let running = 0;
  let held = 0;
  let knownAreNext = true;
  // The position of the known item that started last. New items get a higher one, so positions only
  // grow, and every item is reached.
  let reached = 0;

  const queueFor = (client: string | null, max: number) => {
    const longest = max * waitersPerPlace;
    const own = known.filter((other) => other.client === client);
    const apart = client !== null && known.length < longest && own.length < waitersPerClient;
    const queue = apart ? known : strangers;
    const place = Math.max(reached, own.at(-1)?.place ?? 0) + 1;
    return { queue, place, full: queue.length >= longest };
  };

  const enter = (client: string | null) =>
    new Promise<void>((resolve, reject) => {
      const max = places();
      if (running < max) {
        running += 1;
        resolve();
        return;
      }
      const { queue, full, place } = queueFor(client, max);
      if (full) {
        reject(overloaded(maxWaitMs));
        return;
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(overloaded(maxWaitMs));
      }, maxWaitMs);
      const waiter = { client, place, start: resolve, timer };
      const later = queue === known ? known.findIndex((other) => other.place > place) : -1;
      queue.splice(later === -1 ? queue.length : later, 0, waiter);
    });

  const takeNext = (): Waiter | undefined => {
    const fromKnown = known.length > 0 && (knownAreNext || strangers.length === 0);
    knownAreNext = !fromKnown;
    if (!fromKnown) return strangers.shift();
    const next = known.shift();
    reached = next?.place ?? reached;
    return next;
  };

  const leave = () => {
    running -= 1;
    for (let max = places(); running < max; running += 1) {
      const next = takeNext();
      if (next === undefined) return;
      clearTimeout(next.timer);
      next.start();
    }
  };

  const pass = async <T>(work: () => Promise<T>, client: string | null = null): Promise<T> => {
    await enter(client);
    try {
      return await work();
    } finally {
      leave();
    }
  };
  const refuseIfFull = async (client: string | null) => {
    const max = places();
    if (running < max || !queueFor(client, max).full) return;
    held += 1;
    // The delay varies, because clients that arrived together would otherwise retry together.
    if (held <= maxHeld) await pause(maxWaitMs * (0.5 + Math.random() / 2));
    held -= 1;
    throw overloaded(maxWaitMs);
  };
  const load = () => ({ running, waiting: known.length + strangers.length });
  return Object.assign(pass, { refuseIfFull, load });
}

function overloaded(maxWaitMs: number): Refusal {
  return new Refusal('overloaded', 'The server is checking too many passwords.', {
    hint: 'Try again in a few seconds.',
    retryAfter: Math.max(1, Math.ceil(maxWaitMs / 1000)),
  });
}
