import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireAccount } from '../accounts/find.ts';
import type { userRefInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';
import { discardTotp } from './discard.ts';

/** Turns two-factor authentication off for someone who lost the authenticator: the operator's word (security P12). */
export async function resetTotp(ctx: Context, input: z.output<typeof userRefInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  await transaction(async () => {
    await discardTotp(account.id);
    await recordEvent(ctx, {
      kind: 'user.totp.reset',
      subject: { type: 'user', id: account.id, name: account.name },
    });
  });
  return viewUser(ctx, await account.reload());
}
