import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account, hasSecondFactor } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import type { Reason } from '../../../reasons.ts';
import { email } from '../../foundation/fields.ts';
import { knownClient, passwordLimits, rememberClient } from '../../foundation/limits/password.ts';
import { awaitRoom, spendUntil } from '../../foundation/limits/unjudged.ts';
import { findByEmail, givenPassword, isEmailVerified } from '../../people/accounts/account.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { secondFactorFields } from '../../people/two-factor/second-factor.ts';
import { type Begun, beginSession } from '../begin.ts';
import { type Attempt, type Entering, method } from '../method.ts';
import { isWrongGuess, recordIfRefused } from '../refused.ts';

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

interface ByPassword {
  input: z.output<typeof signInInput>;
  /** The known client of the request, if any. */
  at: string | null;
  /** The account of the address, and whether the password matches its hash. */
  seen: { account: Account | null; right: boolean };
  proof: Proof;
}

interface Proof {
  /** A digest of the hash that the password matched. */
  checked: string;
  returnTo: string;
}

/**
 * The sign-in with a password (spec §4.4). Every `signin_failed` gets the same answer after the
 * same work (security P7).
 */
export const byPassword = method<ByPassword>({
  name: 'password',
  offered: async (ctx, _, signIn) => {
    const client = await knownClient(ctx);
    await ctx.passwords.refuseIfFull(client);
    return signIn(client);
  },
  limits: {
    of: (ctx, { input }) => passwordLimits(ctx, input.email),
    // `look` counts the attempt when its turn to be hashed comes.
    count: awaitRoom,
    givesBack: 'lastInTransaction',
    wrong: isWrongGuess,
  },
  look: async (ctx, { input, at: client, limits, judged }) => {
    const account = await findByEmail(input.email);
    const countOnTurn = () => spendUntil(ctx, limits, judged);
    const hash = account?.passwordHash ?? null;
    const right = await ctx.passwords.verify(hash, input.password, countOnTurn, client);
    return { account, right };
  },
  prove: proveByPassword,
  secondFactor: { inTwoSteps: 'onPages', given: (input) => input, first: hasSecondFactor },
  enter: enterByPassword,
  returnTo: ({ returnTo }) => returnTo,
  words: 'password',
  events: {
    refused: (ctx, { seen: { account }, input: { email } }, error) =>
      recordIfRefused(ctx, error, { method: 'password', account, email }),
  },
});

/** The account that a right password proves, with its proof; refuses with `signin_failed`. */
async function proveByPassword(ctx: Context, attempt: Attempt<ByPassword>) {
  const { seen, returnTo } = attempt;
  const judged = judgePassword(ctx, seen.account, seen.right);
  if ('refused' in judged) throw signInFailed(judged.refused);
  const { proved, hash } = judged;
  const checked = proofOf(await raiseHash(ctx, proved, hash, attempt));
  return { account: proved, proof: { checked, returnTo } };
}

/** Hashes the password again, now that it is known, if the parameters changed (security P6). */
async function raiseHash(
  ctx: Context,
  account: Account,
  hash: string,
  { input, at: client }: Attempt<ByPassword>,
) {
  if (!ctx.passwords.needsRehash(hash)) return hash;
  const raised = await ctx.passwords.hash(input.password, client);
  const where = { id: account.id, passwordHash: hash };
  await transaction(() => Account.update({ passwordHash: raised }, { where }));
  // If the account is gone or has another hash now, `enterByPassword` refuses.
  account.passwordHash = (await Account.findByPk(account.id))?.passwordHash ?? null;
  return raised;
}

/** Begins the session, in the sign-in's transaction, unless the password was changed meanwhile. */
async function enterByPassword(
  ctx: Context,
  { checked }: Proof,
  { account, secondFactor }: Entering,
): Promise<Begun> {
  if (account === undefined) throw new Error('a sign-in by password has no account');
  const { passwordHash: hash } = account;
  if (hash === null || proofOf(hash) !== checked) throw signInFailed('changed_meanwhile');
  const begun = await beginSession(ctx, account, { method: 'password', secondFactor });
  if ('session' in begun && account.email !== null) await rememberClient(ctx, account.email);
  return begun;
}

function proofOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url');
}
