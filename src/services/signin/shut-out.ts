import type { Context } from '../../context.ts';
import { requireAuthority, requireOperator } from '../foundation/authority/require.ts';
import { findOwnersWithoutWay } from '../tenancy/signin-settings/owners.ts';

/**
 * Makes the change and returns the owners it leaves without a way to sign in. The list is empty if
 * an owner keeps one, or if no owner had one before (security O3). The caller must roll the change
 * back.
 */
export async function findShutOut<Input extends { org: string }>(
  ctx: Context,
  input: Input,
  change: (ctx: Context, input: Input) => Promise<unknown>,
) {
  requireOperator(ctx);
  const { organization } = await requireAuthority(ctx, 'signin.see', input.org);
  const before = await findOwnersWithoutWay(ctx, organization);
  await change(ctx, input);
  const after = await findOwnersWithoutWay(ctx, organization);
  const hadOne = before.stuck.length < before.owners;
  const noneLeft = after.stuck.length === after.owners;
  return {
    slug: organization.slug,
    owners: hadOne && noneLeft ? after.stuck.map(({ called }) => called) : [],
  };
}
