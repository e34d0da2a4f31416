import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { email } from '../../foundation/fields.ts';
import { rememberClient } from '../../foundation/limits/password.ts';
import { givenPassword, isEmailVerified } from '../../people/accounts/account.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { type SecondFactor, secondFactorFields } from '../../people/two-factor/second-factor.ts';
import { type Begun, beginSession } from '../begin.ts';

export const signInInput = z.strictObject({
  email,
  password: givenPassword,
  ...secondFactorFields,
});

/**
 * Decides what the comparison of a password proves: the account, or why the sign-in is refused. The
 * person sees one answer for all reasons (security P7).
 */
export function judgePassword(
  ctx: Context,
  account: Account | null,
  right: boolean,
): { proved: Account } | { refused: string } {
  if (account === null) return { refused: 'unknown_account' };
  if (!right) return { refused: 'wrong_password' };
  if (account.disabledAt !== null || account.passwordHash === null)
    return { refused: 'account_disabled' };
  // A different answer would tell a stranger who signs up whether there was an account.
  return isEmailVerified(ctx, account) ? { proved: account } : { refused: 'email_unverified' };
}

/**
 * Makes the arrival of a right password. It keeps a reference to the matched hash, and not the
 * password. It also raises the hash to the present parameters, as only this code has the password
 * (security P6).
 */
export async function arriveByPassword(
  ctx: Context,
  account: Account,
  given: { password: string; client: string | null; returnTo: string },
) {
  const { id, passwordHash: hash } = account;
  if (hash === null) throw new Error('a password was right for no hash');
  const arrival = { by: 'password' as const, returnTo: given.returnTo };
  if (!ctx.passwords.needsRehash(hash)) return { ...arrival, checked: proofOf(hash) };
  const raised = await ctx.passwords.hash(given.password, given.client);
  const where = { id, passwordHash: hash };
  await transaction(() => Account.update({ passwordHash: raised }, { where }));
  // Without the account, or with another hash, `enterByPassword` refuses.
  account.passwordHash = (await Account.findByPk(id))?.passwordHash ?? null;
  return { ...arrival, checked: proofOf(raised) };
}

/** Begins the session, in the sign-in's transaction, unless the password was changed meanwhile. */
export async function enterByPassword(
  ctx: Context,
  account: Account,
  { checked }: { checked: string },
  secondFactor: SecondFactor | null,
): Promise<Begun> {
  const { passwordHash: hash } = account;
  if (hash === null || proofOf(hash) !== checked) throw signInFailed('changed_meanwhile');
  const begun = await beginSession(ctx, account, { method: 'password', secondFactor });
  if ('session' in begun && account.email !== null) await rememberClient(ctx, account.email);
  return begun;
}

function proofOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url');
}
