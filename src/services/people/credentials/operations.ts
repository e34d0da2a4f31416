import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { giveBack, requireRoom, spend } from '../../foundation/limits/limit.ts';
import { knownClient, passwordLimits } from '../../foundation/limits/password.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { operation } from '../../foundation/operation.ts';
import { givenPassword, holdAccount } from '../accounts/account.ts';
import { hashNewPassword } from '../accounts/password.ts';
import { ownSessionOf } from '../sessions/end.ts';
import { marksOf } from '../tokens/token.ts';
import { endSignIns } from './credentials.ts';

/** Changes the caller's password; ends other sessions, all codes and links (security P5, P10). */
export const changePassword = operation({
  authority: 'me.credentials',
  input: z.strictObject({ currentPassword: givenPassword, newPassword: givenPassword }),
  run: async (ctx, input, { accountId }) => {
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const current = await requireCurrent(ctx, account, 'currentPassword', input.currentPassword);
    const passwordHash = await hashNewPassword(ctx, input.newPassword, account, 'newPassword');
    await transaction(async () => {
      await holdAccount(ctx, accountId);
      const { unapproved: passwordUnapproved } = await marksOf(ctx);
      // Fails if another change came first, even one by the operator.
      const where = { id: accountId, passwordHash: current };
      const [changed] = await Account.update({ passwordHash, passwordUnapproved }, { where });
      if (changed === 0)
        throw new Refusal('conflict', 'Your password was changed in the meantime.');
      await endSignIns(ctx, { accountId, but: ownSessionOf(ctx.actor) });
      await recordEvent(ctx, {
        kind: 'user.password.changed',
        ...eventAbout('user', { id: accountId, name: account.name }),
      });
      await notify(ctx, account, { what: 'password-changed' });
    });
  },
});

/** The hash of the current password; a wrong password is refused and counted (security P8). */
export async function requireCurrent(
  ctx: Context,
  account: Account,
  field: string,
  given: string,
): Promise<string> {
  const { passwordHash } = account;
  if (passwordHash === null) {
    throw new Refusal('conflict', 'Your account has no password: you sign in another way.', {
      hint: 'Set one with a code by mail, or ask the operator of this instance to set one.',
    });
  }
  const limits = await passwordLimits(ctx, account.email ?? account.id);
  await requireRoom(ctx, limits);
  const countIt = () => spend(ctx, limits);
  if (await ctx.passwords.verify(passwordHash, given, countIt, await knownClient(ctx))) {
    await giveBack(ctx, limits);
    return passwordHash;
  }
  throw refuseField(field, 'is not your password');
}

/** Whether the caller has this address, and no password. */
export async function isWithoutPassword(ctx: Context, email: string): Promise<boolean> {
  const { accountId } = requireUser(ctx, 'me.see');
  return (await Account.count({ where: { id: accountId, email, passwordHash: null } })) > 0;
}
