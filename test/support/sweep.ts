import type { Context } from '../../src/context.ts';
import { confirmClock } from '../../src/services/foundation/clock/clock.ts';
import { sweepExpired } from '../../src/services/instance/upkeep.ts';

/** Sweeps at the time of the context, even if a test moved the clock far ahead. */
export async function sweepNow(ctx: Context): Promise<void> {
  await confirmClock({ ...ctx, actor: { kind: 'operator', name: 'test' } });
  await sweepExpired(ctx);
}
