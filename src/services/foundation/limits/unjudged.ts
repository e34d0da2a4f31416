import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';
import { keyOf, type Limit, requireRoom, spend } from './limit.ts';

// Every attempt counts until it is checked, even with the right credential. On a slow database,
// parallel right credentials would fill a limit meant for refused ones (security P8).

/** The attempts of this process that are counted but not checked yet, by the key of a limit. */
const unjudged = remembered(() => new Map<string, Set<Promise<void>>>());

/**
 * Like `spend`, for an attempt that is decided when `judged` resolves. If a limit is full, waits
 * for other attempts of this process: a right credential gives its count back.
 */
export async function spendUntil(
  ctx: Context,
  limits: Limit[],
  judged: Promise<void>,
): Promise<void> {
  await whileOthersEnd(ctx, limits, () => spend(ctx, limits));
  for (const limit of limits) {
    const key = keyOf(ctx, limit);
    const others = unjudged(ctx).get(key) ?? new Set();
    unjudged(ctx).set(key, others.add(judged));
    void judged.then(() => {
      others.delete(judged);
      if (others.size === 0) unjudged(ctx).delete(key);
    });
  }
}

/** Like `requireRoom`, and waits as `spendUntil` does. */
export function awaitRoom(ctx: Context, limits: Limit[]): Promise<void> {
  return whileOthersEnd(ctx, limits, () => requireRoom(ctx, limits));
}

/** While a limit is full, runs the work again each time another attempt has ended. */
async function whileOthersEnd(ctx: Context, limits: Limit[], work: () => Promise<void>) {
  for (;;) {
    const others = limits.flatMap((limit) => [...(unjudged(ctx).get(keyOf(ctx, limit)) ?? [])]);
    try {
      return await work();
    } catch (error) {
      const isFull = error instanceof Refusal && error.code === 'too_many_requests';
      if (!isFull || others.length === 0) throw error;
      await Promise.race(others);
    }
  }
}
