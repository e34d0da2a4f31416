import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireOperator } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { requireAccount } from '../accounts/find.ts';
import { hashNewPassword } from '../accounts/password.ts';
import type { setUserPasswordInput } from '../accounts/schema.ts';
import { viewUser } from '../accounts/view.ts';
import { endSignIns } from '../credentials/credentials.ts';

/**
 * Sets an account's password for the operator. Its sessions, mailed codes and links end (security P10), and its tokens
 * unless they are to be kept; its apps keep their secrets.
 */
export async function setUserPassword(ctx: Context, input: z.output<typeof setUserPasswordInput>) {
  requireOperator(ctx);
  const account = await requireAccount(input.user);
  const passwordHash = await hashNewPassword(ctx, input.password, account);
  const ended = await transaction(async () => {
    await account.update({ passwordHash });
    const accountId = account.id;
    const sessions = await endSignIns(ctx, { accountId });
    const tokens = input.keepTokens === true ? 0 : await AccessToken.destroy({ where: { accountId } });
    await recordEvent(ctx, {
      kind: 'user.password.set',
      subject: { type: 'user', id: account.id, name: account.name },
      data: { tokensEnded: tokens },
    });
    return { sessions, tokens };
  });
  return { ...viewUser(ctx, account), ended };
}
