import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';
import { keyOf, type Limit, requireRoom, spend } from './limit.ts';

// Right credentials that arrive at the same time are counted until each is judged. On a slow
// database they would fill a limit that only refused ones may fill (security P8).

/** The attempts of this process that are counted and not judged yet, by the key of a limit. */
const unjudged = remembered(() => new Map<string, Set<Promise<void>>>());

/**
 * Like `spend`, for an attempt that is judged when `judged` resolves. If a limit is full, waits for
 * counted attempts of this process: of a right credential, the count is given back.
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

/** Runs the work again each time that another attempt has ended, as long as a limit is full. */
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
