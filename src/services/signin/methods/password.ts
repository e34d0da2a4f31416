import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import type { Reason } from '../../../reasons.ts';
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

/** The account and its hash, if the password proves the account; else why it is refused. */
export function judgePassword(
  ctx: Context,
  account: Account | null,
  right: boolean,
): { proved: Account; hash: string } | { refused: Reason } {
  if (account === null) return { refused: 'unknown_account' };
  if (!right) return { refused: 'wrong_password' };
  const { disabledAt, passwordHash: hash } = account;
  if (disabledAt !== null || hash === null) return { refused: 'account_disabled' };
  // The answer hides this reason: it must not tell a stranger whether there is an account.
  return isEmailVerified(ctx, account)
    ? { proved: account, hash }
    : { refused: 'email_unverified' };
}

/** The facts of a sign-in with a password, besides the account. */
interface Given {
  /** Whether the password matches the account's. */
  right: boolean;
  password: string;
  client: string | null;
  returnTo: string;
}

/** The account that a right password proves, with its arrival; refuses `signin_failed`. */
export async function proveByPassword(ctx: Context, account: Account | null, given: Given) {
  const judged = judgePassword(ctx, account, given.right);
  if ('refused' in judged) throw signInFailed(judged.refused);
  const { proved, hash } = judged;
  const checked = proofOf(await raiseHash(ctx, proved, hash, given));
  const arrival = { by: 'password' as const, checked, returnTo: given.returnTo };
  return { account: proved, arrival };
}

/** Hashes the password again, now that it is known, if the parameters changed (security P6). */
async function raiseHash(ctx: Context, account: Account, hash: string, given: Given) {
  if (!ctx.passwords.needsRehash(hash)) return hash;
  const raised = await ctx.passwords.hash(given.password, given.client);
  const where = { id: account.id, passwordHash: hash };
  await transaction(() => Account.update({ passwordHash: raised }, { where }));
  // If the account is gone or has another hash now, `enterByPassword` refuses.
  account.passwordHash = (await Account.findByPk(account.id))?.passwordHash ?? null;
  return raised;
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
