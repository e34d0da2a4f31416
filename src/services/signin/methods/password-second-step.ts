import { createHash } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import { knownClient } from '../../foundation/limits/known-client.ts';
import { rememberClient } from '../../foundation/limits/password.ts';
import { signInFailed } from '../../people/sessions/failed.ts';
import type { SecondFactor } from '../../people/two-factor/answer.ts';
import { accountAsked } from '../../people/two-factor/refusals.ts';
import { beginSession } from '../begin.ts';
import { type Arrival, holdForSecondFactor, type TwoSteps } from '../pending.ts';

// The screen asks for the code of the second factor after the password. What is kept meanwhile is which hash the
// password was right for: neither the password, nor anything that another one would do for.

/** Makes of a refusal that asks for a code one that can be answered by the code alone; every other error stays. */
export async function holdPassword(
  ctx: Context,
  { account, password, returnTo }: TwoSteps & { account: Account; password: string },
  error: unknown,
): Promise<never> {
  const { id, passwordHash } = account;
  if (accountAsked(error) !== id || passwordHash === null) throw error;
  const checked = proofOf(await raised(ctx, { id, passwordHash }, password));
  throw await holdForSecondFactor(ctx, id, { by: 'password', checked, returnTo });
}

/** What a right password leads to once the code is there, unless the password was changed since. */
export function enterByPassword(
  ctx: Context,
  account: Account,
  { checked }: Arrival & { by: 'password' },
  secondFactor: SecondFactor | null,
) {
  const { email, passwordHash } = account;
  if (passwordHash === null || proofOf(passwordHash) !== checked) throw signInFailed('changed_meanwhile');
  return transaction(async () => {
    const session = await beginSession(ctx, account, { method: 'password', secondFactor });
    if (email !== null) await rememberClient(ctx, email);
    return session;
  });
}

/** The hash by the present parameters (security P6); only here is the password at hand. */
async function raised(
  ctx: Context,
  { id, passwordHash }: { id: string; passwordHash: string },
  password: string,
): Promise<string> {
  if (!ctx.passwords.needsRehash(passwordHash)) return passwordHash;
  const rehashed = await ctx.passwords.hash(password, await knownClient(ctx));
  await transaction(() => Account.update({ passwordHash: rehashed }, { where: { id, passwordHash } }));
  return rehashed;
}

function proofOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url');
}
