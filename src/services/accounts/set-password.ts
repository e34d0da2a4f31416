import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { requireOperator } from '../authority/require.ts';
import { recordEvent } from '../events/record.ts';
import { endSessions } from '../sessions/end.ts';
import { requireAccount } from './find.ts';
import { hashNewPassword } from './password.ts';
import type { setUserPasswordInput } from './schema.ts';
import { viewUser } from './view.ts';

/** Sets an account's password on the operator's word and ends all its sessions. */
export async function setUserPassword(ctx: Context, input: z.output<typeof setUserPasswordInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  const passwordHash = await hashNewPassword(ctx, input.password, account);
  await transaction(async () => {
    await account.update({ passwordHash });
    await endSessions(ctx, { accountId: account.id });
    await recordEvent(ctx, {
      kind: 'user.password.set',
      subject: { type: 'user', id: account.id, name: account.name },
    });
  });
  return viewUser(ctx, account);
}
