import type { Context } from '../../../context.ts';

/** Counts a sign-in for the metrics: how it ended, and by which method; nobody is named. */
export function countSignIn(
  { signIns }: Pick<Context, 'signIns'>,
  method: string,
  outcome: 'succeeded' | 'refused',
): void {
  const key = `${method} ${outcome}`;
  signIns.set(key, (signIns.get(key) ?? 0) + 1);
}
