import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { transaction } from '../../database/transaction.ts';
import { findByEmail } from '../accounts/find.ts';
import { answerSecondFactor } from '../two-factor/answer.ts';
import { beginSession } from './begin.ts';
import { signInFailed } from './failed.ts';
import type { signInInput } from './schema.ts';

/**
 * Password sign-in (spec §4.4). An unknown address, a wrong password and a disabled account get the
 * same answer after the same work (security P7).
 */
export async function signIn(ctx: Context, input: z.output<typeof signInInput>) {
  const found = await findByEmail(input.email);
  const right = await ctx.passwords.verify(found?.passwordHash ?? null, input.password);
  if (found === null || found.passwordHash === null || !right) throw signInFailed('wrong_password');
  // Asked before a code is: only an account that may sign in is told that its password was right.
  if (found.disabledAt !== null) throw signInFailed('account_disabled');
  const secondFactor = await answerSecondFactor(ctx, found, input.totpCode);
  const checked = found.passwordHash;
  const rehashed = ctx.passwords.needsRehash(checked) ? await ctx.passwords.hash(input.password) : checked;
  return transaction(async () => {
    const account = await Account.findByPk(found.id);
    // Changed or deleted while the hash was computed: the password checked is no longer the password.
    if (account?.passwordHash !== checked) throw signInFailed('changed_meanwhile');
    if (rehashed !== checked) await account.update({ passwordHash: rehashed });
    return beginSession(ctx, account, { method: 'password', secondFactor });
  });
}
