import type { Context } from '../../../context.ts';
import type { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';

// Limits how much work of one process may wait for the network at the same time (security S9).

/** How many places are in use, by name. */
const takenPlaces = remembered(() => new Map<string, number>());

/** The places that a piece of work needs. */
export interface Places {
  /** Takes all places; a repeated call takes no more. Refuses with `overloaded`. */
  take(): void;
  /** Gives the taken places back. */
  leave(): void;
}

/** The places with these names, each with its maximum. `full` makes the refusal if one is full. */
export function placesFor(
  process: Pick<Context, 'memory'>,
  wanted: [name: string, max: number][],
  full: () => Refusal,
): Places {
  const busy = takenPlaces(process);
  let taken = false;
  const change = (by: 1 | -1) => {
    for (const [name] of wanted) {
      const left = (busy.get(name) ?? 0) + by;
      if (left === 0) busy.delete(name);
      else busy.set(name, left);
    }
    taken = by === 1;
  };
  return {
    take() {
      if (taken) return;
      if (wanted.some(([name, max]) => (busy.get(name) ?? 0) >= max)) throw full();
      change(1);
    },
    leave() {
      if (taken) change(-1);
    },
  };
}
