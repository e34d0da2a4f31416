import type { Next } from '../../next.ts';
import { counted } from '../../text/words.ts';

/**
 * The words for an operation that ends or removes something: what people read before they agree,
 * and after it is done. Each door shows them in its own form.
 */
export interface Ending<View, Input> {
  /** The question, such as `Delete Acme?`. */
  ask(view: View, input: Input): string;
  /** What else ends, in sentences. */
  effects?(view: View, input: Input): string[];
  /** What was done, such as `Deleted Acme.`, and what to do next. */
  done(view: View, input: Input): Next;
}

/** The number of sessions that end, as a sentence; empty if it is zero. */
export function sessionsEnding({ sessionsEnded: count }: { sessionsEnded: number }): string[] {
  return count === 0 ? [] : [`${counted(count, 'session')} ${count === 1 ? 'ends' : 'end'}.`];
}

/** The owners who signed in through a connection, as a sentence; empty if there are none. */
export function affectedOwners({ owners }: { owners: string[] }): string[] {
  return owners.length === 0 ? [] : [`These owners signed in through it: ${owners.join(', ')}.`];
}
