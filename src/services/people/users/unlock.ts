import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { forgetCounts } from '../../foundation/limits/forget.ts';
import { mailboxOf } from '../../foundation/limits/mailbox.ts';
import { requireAccount } from '../accounts/find.ts';
import type { userRefInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';

/** Lets somebody try again at once who failed too often, with password and codes alike (security P8). */
export async function unlockUser(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  const { id, email } = account;
  const named = email === null ? [id] : [id, email, mailboxOf(email)];
  await transaction(async () => {
    if (!(await forgetCounts(ctx, named))) return;
    await recordEvent(ctx, {
      kind: 'user.unlocked',
      subject: { type: 'user', id: account.id, name: account.name },
    });
  });
  return viewUser(ctx, account);
}
