import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../errors.ts';

interface Waiter {
  client: string | null;
  /** How many of its client waited in the places of known clients when it came. */
  before: number;
  start: () => void;
  timer: NodeJS.Timeout;
}

// More would wait in vain: at some 40 hashes a second and core, the last of these just meets its two seconds.
const waitersPerPlace = 80;

// Answered at once, a stranger asks again at once, and the answers alone keep the process busy.
const mostHeld = 1000;

/** How many works of one known client wait in the places of known clients; its further ones wait with the strangers. */
const waitersPerClient = 4;

/** What `createGate` makes. */
export interface Gate {
  /** Runs the work in its turn; `client` is a known client that the work is for. */
  <T>(work: () => Promise<T>, client?: string | null): Promise<T>;
  /** Refuses `overloaded` where the places that this client may wait in are full: asked first, a refusal costs nothing else. */
  requirePlace(client: string | null): Promise<void>;
  /** How many run now, and how many wait. */
  load(): { running: number; waiting: number };
}

/**
 * Lets as many works run at once as there are places at the moment; the others wait at most `maxWaitMs`. Known clients
 * wait apart from strangers and get every other turn, so that strangers cannot shut them out (security P8). Among known
 * clients the one with the fewest works before it is next. Refuses `overloaded` when the time is over or the queue is full.
 */
export function createGate(places: () => number, maxWaitMs: number): Gate {
  const strangers: Waiter[] = [];
  const known: Waiter[] = [];
  let running = 0;
  let held = 0;
  let knownAreNext = true;

  const queueFor = (client: string | null, most: number) => {
    const longest = most * waitersPerPlace;
    const before = known.filter((other) => other.client === client).length;
    const apart = client !== null && known.length < longest && before < waitersPerClient;
    const queue = apart ? known : strangers;
    return { queue, before, full: queue.length >= longest };
  };

  const enter = (client: string | null) =>
    new Promise<void>((resolve, reject) => {
      const most = places();
      if (running < most) {
        running += 1;
        resolve();
        return;
      }
      const { queue, full, before } = queueFor(client, most);
      if (full) {
        reject(overloaded(maxWaitMs));
        return;
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(overloaded(maxWaitMs));
      }, maxWaitMs);
      const waiter = { client, before, start: resolve, timer };
      const later = queue === known ? known.findIndex((other) => other.before > before) : -1;
      queue.splice(later === -1 ? queue.length : later, 0, waiter);
    });

  const takeNext = (): Waiter | undefined => {
    const fromKnown = known.length > 0 && (knownAreNext || strangers.length === 0);
    knownAreNext = !fromKnown;
    return fromKnown ? known.shift() : strangers.shift();
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
  const requirePlace = async (client: string | null) => {
    const most = places();
    if (running < most || !queueFor(client, most).full) return;
    held += 1;
    // Not all for as long, or those who came together come again together.
    if (held <= mostHeld) await pause(maxWaitMs * (0.5 + Math.random() / 2));
    held -= 1;
    throw overloaded(maxWaitMs);
  };
  const load = () => ({ running, waiting: known.length + strangers.length });
  return Object.assign(pass, { requirePlace, load });
}

function overloaded(maxWaitMs: number): Refusal {
  return new Refusal('overloaded', 'too many passwords are being checked at this moment', {
    hint: 'try again in a few seconds',
    retryAfter: Math.max(1, Math.ceil(maxWaitMs / 1000)),
  });
}
