import type { Fields } from './output.ts';

interface Ended {
  sessionsEnded: number;
}

/** The field that says how many sessions a command ends. */
export const sessionsEndedField: Fields<Ended>[number] = [
  'Sessions ended',
  ({ sessionsEnded }) => sessionsEnded,
];

/** How many sessions end, as a sentence; empty for none. */
export function sessionsEnding({ sessionsEnded: count }: Ended): string {
  return count === 0 ? '' : count === 1 ? '1 session ends.' : `${count} sessions end.`;
}

/** How many people, in words. */
export function persons({ length }: string[]): string {
  return length === 1 ? '1 person' : `${length} people`;
}
