import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { requireOperator, requireUser } from '../../foundation/authority/require.ts';
import { requireAccount } from '../accounts/find.ts';

/** The account whose second factor it is: one's own, or for the operator the one named. */
export async function requireOwnAccount(ctx: Context, user: string | undefined): Promise<Account> {
  if (user === undefined)
    return Account.findByPk(requireUser(ctx, 'me.credentials').accountId, { rejectOnEmpty: true });
  requireOperator(ctx);
  return requireAccount(user);
}
