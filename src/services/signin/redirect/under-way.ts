import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import { networkOf } from '../../foundation/limits/network.ts';

/** How many callbacks may wait for a provider at once in one process (security S9). */
const most = { client: 10, connection: 50 };

/** The places of a callback: one of its client's and one of its connection's. */
export interface CallbackPlaces {
  /** Takes both places; a repeated call takes no more. Refuses `overloaded`. */
  take(): void;
  /** Returns the places it took. */
  leave(): void;
}

/** The places of a callback of this client, through this connection or social provider. */
export function callbackPlaces(
  { callbacksUnderWay: busy, client }: Context,
  connection: string,
): CallbackPlaces {
  const wanted: [string, number][] = [
    [`client ${networkOf(client.address)}`, most.client],
    [`connection ${connection}`, most.connection],
  ];
  let taken = false;
  const change = (by: 1 | -1) => {
    for (const [key] of wanted) {
      const left = (busy.get(key) ?? 0) + by;
      if (left === 0) busy.delete(key);
      else busy.set(key, left);
    }
    taken = by === 1;
  };
  return {
    take() {
      if (taken) return;
      if (wanted.some(([key, limit]) => (busy.get(key) ?? 0) >= limit)) throw tooMany();
      change(1);
    },
    leave() {
      if (taken) change(-1);
    },
  };
}

function tooMany(): Refusal {
  return new Refusal('overloaded', 'Too many sign-ins are waiting for this provider.', {
    hint: 'Reload this page in a few seconds to finish your sign-in.',
    retryAfter: 5,
  });
}
