import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { knownClient } from '../../foundation/limits/known-client.ts';
import { passwordLimits } from '../../foundation/limits/password.ts';
import { giveBack, requireRoom, spend } from '../../foundation/limits/spend.ts';
import { operation } from '../../foundation/operation.ts';
import { hashNewPassword } from '../accounts/password.ts';
import { givenPassword } from '../accounts/schema.ts';
import { ownSessionOf } from '../sessions/own.ts';
import { endSignIns } from './credentials.ts';

/**
 * Replaces the caller's own password; ends all other sessions and all mailed codes (security P5,
 * P10).
 */
export const changePassword = operation({
  authority: 'me.credentials',
  input: z.strictObject({ currentPassword: givenPassword, newPassword: givenPassword }),
  run: async (ctx, input, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const current = await requireCurrent(ctx, account, input.currentPassword);
    const passwordHash = await hashNewPassword(ctx, input.newPassword, account, 'newPassword');
    await transaction(async () => {
      // Of two changes at once, also with one by the operator, the first counts.
      const [changed] = await Account.update(
        { passwordHash },
        { where: { id: accountId, passwordHash: current } },
      );
      if (changed === 0) throw new Refusal('conflict', 'Your password was changed meanwhile.');
      await endSignIns(ctx, { accountId, but: ownSessionOf(ctx.actor) });
      await recordEvent(ctx, {
        kind: 'user.password.changed',
        subject: { type: 'user', id: accountId, name: account.name },
      });
    });
  },
});

/** The hash of the current password; a wrong one counts as at sign-in (security P8). */
async function requireCurrent(ctx: Context, account: Account, given: string): Promise<string> {
  const { passwordHash } = account;
  if (passwordHash === null) {
    throw new Refusal('conflict', 'Your account has no password: you sign in another way.', {
      hint: 'Sign in that way, or ask the operator of this instance to set a password.',
    });
  }
  const limits = await passwordLimits(ctx, account.email ?? account.id);
  await requireRoom(ctx, limits);
  const countIt = () => spend(ctx, limits);
  if (await ctx.passwords.verify(passwordHash, given, countIt, await knownClient(ctx))) {
    await giveBack(ctx, limits);
    return passwordHash;
  }
  throw refuseField('currentPassword', 'is not your password');
}
