import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../errors.ts';

interface Waiter {
  client: string | null;
  /** The place in line among known clients; the lowest is next. */
  place: number;
  start: () => void;
  timer: NodeJS.Timeout;
}

// A longer queue is useless. At about 40 hashes a second per core, the last one just meets its two
// seconds.
const waitersPerPlace = 80;

// A stranger who is refused at once retries at once, and the refusals alone keep the process busy.
const mostHeld = 1000;

/**
 * How many items of one known client may queue among known clients. Its further ones queue with
 * strangers.
 */
const waitersPerClient = 4;

/** The gate that `createGate` makes. */
export interface Gate {
  /** Runs the work in its turn. `client` is the known client that asks, or null for a stranger. */
  <T>(work: () => Promise<T>, client?: string | null): Promise<T>;
  /**
   * Refuses `overloaded` if this client's queue is full. Asked first, so that a refusal costs
   * nothing else.
   */
  refuseIfFull(client: string | null): Promise<void>;
  /** How many items run now, and how many wait. */
  load(): { running: number; waiting: number };
}

/**
 * Runs at most `places()` items at once; the others wait at most `maxWaitMs`. Known clients queue
 * apart from strangers and get every other turn, so strangers cannot shut them out (security P8).
 * Known clients with queued items take turns, however many each has. Refuses `overloaded` after
 * `maxWaitMs`, or if the queue is full.
 */
export function createGate(places: () => number, maxWaitMs: number): Gate {
  const strangers: Waiter[] = [];
  const known: Waiter[] = [];
  let running = 0;
  let held = 0;
  let knownAreNext = true;
  // The place of the known item that started last. A new item comes after it, so places only grow
  // and each item is reached.
  let reached = 0;

  const queueFor = (client: string | null, most: number) => {
    const longest = most * waitersPerPlace;
    const own = known.filter((other) => other.client === client);
    const apart = client !== null && known.length < longest && own.length < waitersPerClient;
    const queue = apart ? known : strangers;
    const place = Math.max(reached, own.at(-1)?.place ?? 0) + 1;
    return { queue, place, full: queue.length >= longest };
  };

  const enter = (client: string | null) =>
    new Promise<void>((resolve, reject) => {
      const most = places();
      if (running < most) {
        running += 1;
        resolve();
        return;
      }
      const { queue, full, place } = queueFor(client, most);
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
    for (let most = places(); running < most; running += 1) {
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
    const most = places();
    if (running < most || !queueFor(client, most).full) return;
    held += 1;
    // The delay varies, because clients that arrived together would otherwise return together.
    if (held <= mostHeld) await pause(maxWaitMs * (0.5 + Math.random() / 2));
    held -= 1;
    throw overloaded(maxWaitMs);
  };
  const load = () => ({ running, waiting: known.length + strangers.length });
  return Object.assign(pass, { refuseIfFull, load });
}

function overloaded(maxWaitMs: number): Refusal {
  return new Refusal('overloaded', 'too many passwords are being checked at this moment', {
    hint: 'try again in a few seconds',
    retryAfter: Math.max(1, Math.ceil(maxWaitMs / 1000)),
  });
}
