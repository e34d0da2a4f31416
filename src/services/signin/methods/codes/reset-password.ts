import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { recordEvent } from '../../../foundation/events/record.ts';
import { isProved } from '../../../people/accounts/account.ts';
import { hashNewPassword } from '../../../people/accounts/password.ts';
import { endSignIns } from '../../../people/credentials/credentials.ts';
import {
  acceptSecondFactor,
  answerSecondFactor,
} from '../../../people/two-factor/second-factor.ts';
import { answerCode } from './answer.ts';
import { proveAddress } from './prove.ts';
import type { resetPasswordInput } from './schema.ts';

/**
 * Sets a new password by a mailed code, and by the second factor if that is on. It ends all
 * sessions of the account and every other code.
 */
export async function resetPassword(
  ctx: Context,
  input: z.output<typeof resetPasswordInput>,
): Promise<void> {
  await answerCode(ctx, { ...input, purpose: 'reset' }, async ({ account: found, open }) => {
    // If the address was never proved, the second factor belongs to an earlier holder
    // (security P11).
    const own = isProved(found);
    const passwordHash = await hashNewPassword(ctx, input.newPassword, found, 'newPassword');
    const secondFactor = own ? await answerSecondFactor(ctx, found, input.totpCode) : null;
    await transaction(async () => {
      const account = await open();
      await proveAddress(ctx, account, 'another code');
      await acceptSecondFactor(account, secondFactor);
      await account.update({ passwordHash });
      await endSignIns(ctx, { accountId: account.id });
      await recordEvent(ctx, {
        kind: 'user.password.reset',
        subject: { type: 'user', id: account.id, name: account.name },
      });
    });
  });
}
