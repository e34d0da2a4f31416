import type { Context } from '../../../context.ts';
import type { TokenScope } from '../../../database/models/access-token.ts';
import { requireOperator, requireSecondFactor, requireUser } from '../../foundation/authority/require.ts';
import { requireAccount } from '../accounts/find.ts';

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

/** Proves that the actor may be given a value of a token of this scope: for scope admin, the operator or a second factor. */
export async function requireSecondFactorFor(ctx: Context, scope: TokenScope): Promise<void> {
  if (scope === 'admin' && ctx.actor.kind !== 'operator') await requireSecondFactor(ctx, 'me.adminTokens');
}
