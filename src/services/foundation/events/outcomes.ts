import type { Context } from '../../../context.ts';

/** Counts a sign-in for the metrics, by outcome and method. It stores no person. */
export function countSignIn(
  { signIns }: Pick<Context, 'signIns'>,
  method: string,
  outcome: 'succeeded' | 'refused',
): void {
  const key = `${method} ${outcome}`;
  signIns.set(key, (signIns.get(key) ?? 0) + 1);
}
