import type { Refusal } from '../../../errors.ts';

const recorded = new WeakMap<Refusal, Set<string>>();

/**
 * Has a provider's failure written down once for whom it is about (`of`): a failure is remembered for some seconds, and
 * told to strangers without end, which must cost no write each (security X5).
 */
export async function recordOnce(
  failure: Refusal,
  of: string,
  record: () => Promise<void>,
): Promise<void> {
  const done = recorded.get(failure) ?? new Set();
  recorded.set(failure, done);
  if (!done.has(of)) await record();
  done.add(of);
}
