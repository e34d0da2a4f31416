import type { Context } from '../../context.ts';
import { requireAccount } from '../accounts/find.ts';
import { requireOperator, requireUser } from '../authority/require.ts';

/** Proves that somebody may see or change tokens: their own, or for the operator those of the account named, whose id it answers. */
export async function requireHolder(
  ctx: Context,
  operation: 'me.see' | 'me.credentials',
  user: string | undefined,
): Promise<string> {
  if (user === undefined) return requireUser(ctx, operation).accountId;
  requireOperator(ctx);
  return (await requireAccount(user)).id;
}
