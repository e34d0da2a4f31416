import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireAccount } from '../accounts/find.ts';
import type { userRefInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';

/** Lets a disabled account sign in again; sessions that were ended stay ended. */
export async function enableUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  await transaction(async () => {
    if (account.disabledAt === null) return;
    await account.update({ disabledAt: null });
    await recordEvent(ctx, {
      kind: 'user.enabled',
      subject: { type: 'user', id: account.id, name: account.name },
    });
  });
  return viewUser(ctx, account);
}
