import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { requireUser } from '../../foundation/authority/require.ts';

/** Whether the caller has this address, and no password. */
export async function isWithoutPassword(ctx: Context, email: string): Promise<boolean> {
  const { accountId } = requireUser(ctx, 'me.see');
  return (await Account.count({ where: { id: accountId, email, passwordHash: null } })) > 0;
}
