import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// A daemon shares its machine. V8 plans for a heap of some gigabytes, so it lets garbage double the
// heap before it collects. It also keeps the memory of a burst, because it collects while code
// allocates, not when a daemon is idle.

/** How far the heap may grow beyond what is in use before V8 collects, in percent. */
const growth = 30;
const everyMs = 10_000;
/** The shares of a processor below which a daemon is idle, and above which it is under load. */
const [idleShare, loadShare] = [0.01, 0.05];
/** A collection stops the daemon for about 0.1 s, so it runs once after a load, or this often. */
const quietMs = 600_000;
/** Less garbage than this is not worth it, in bytes. */
const worthwhile = 4 * 1024 * 1024;

/** The process, as far as this file reads it. */
export interface Process {
  /** The processor time so far, in milliseconds. */
  used(): number;
  /** The used heap, in bytes. */
  heap(): number;
  /** Collects all garbage, and returns the memory to the system. */
  collect(): void;
}

/** Keeps the heap small under load, and returns the memory of a burst once the daemon is idle. */
export function returnMemory({ used, heap, collect }: Process = thisProcess()): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
  const last = { used: used(), heap: 0, sinceMs: quietMs };
  setInterval(() => {
    const now = used();
    const share = (now - last.used) / everyMs;
    last.used = now;
    last.sinceMs = share > loadShare ? quietMs : last.sinceMs + everyMs;
    const isDue = share < idleShare && last.sinceMs >= quietMs;
    if (!isDue || heap() < last.heap + worthwhile) return;
    collect();
    Object.assign(last, { heap: heap(), sinceMs: 0 });
  }, everyMs).unref();
}

function thisProcess(): Process {
  setFlagsFromString('--expose-gc');
  // The flag adds `gc` to new contexts only.
  const gc: (how: object) => void = runInNewContext('gc');
  return {
    used: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    heap: () => getHeapStatistics().used_heap_size,
    // Other kinds of collection keep the emptied pages.
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  };
}
