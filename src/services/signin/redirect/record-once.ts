import type { Refusal } from '../../../errors.ts';

const recorded = new WeakMap<Refusal, Set<string>>();

/**
 * Records a provider's failure once for each connection or provider (`of`). A cached failure is
 * shown to any number of strangers for some seconds, so repeating it must cost no write
 * (security X5).
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
