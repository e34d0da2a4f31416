import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireAccount } from '../accounts/find.ts';
import type { userRefInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';
import { endSignIns } from '../credentials/credentials.ts';

/**
 * Shuts an account out from the next request on. Its sessions, mailed codes and links end for good; tokens, apps and the
 * password come back when it is enabled.
 */
export async function disableUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  await transaction(async () => {
    if (account.disabledAt !== null) return;
    await account.update({ disabledAt: ctx.now });
    await endSignIns(ctx, { accountId: account.id });
    await recordEvent(ctx, {
      kind: 'user.disabled',
      subject: { type: 'user', id: account.id, name: account.name },
    });
  });
  return viewUser(ctx, account);
}
