import type { Context } from '../../../../context.ts';
import { findShutOut } from '../../../../services/signin/shut-out.ts';

/** The owners that a change would leave without a way to sign in, as sentences. */
export async function shutOutBy(
  ctx: Context,
  given: Parameters<typeof findShutOut>[1],
): Promise<string[]> {
  const { owners } = await findShutOut(ctx, given);
  if (owners.length === 0) return [];
  return [`After that, no owner can sign in: ${owners.join(', ')}.`];
}
