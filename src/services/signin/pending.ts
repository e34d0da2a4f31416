import { z } from 'zod';
import type { Context } from '../../context.ts';
import { hashOfToken } from '../../crypto/secret.ts';
import { Account } from '../../database/models/account.ts';
import { PendingSignIn } from '../../database/models/pending-sign-in.ts';
import { transaction } from '../../database/transaction.ts';
import { Refusal } from '../../errors.ts';
import { askForPasskey } from '../people/passkeys/assertion.ts';
import { signInFailed } from '../people/sessions/schema.ts';
import { factorsOf } from '../people/two-factor/asking.ts';
import { answerSecondFactor, secondFactorFields } from '../people/two-factor/second-factor.ts';
import { findHelper } from '../tenancy/second-factor/operations.ts';
import { enterOnce, finishArrival } from './admit.ts';
import { requireSession } from './begin.ts';
import type { Arrival } from './method.ts';
import { byDirectory } from './methods/ldap/sign-in.ts';
import { byLoginLink } from './methods/link.ts';
import { byPassword } from './methods/password.ts';
import { bySocial } from './methods/social.ts';
import { bySso } from './methods/sso.ts';

// The second step of a sign-in whose arrival is held for the second factor.

/** The ways whose arrivals are held. The others take the second factor with the proof. */
const ways = [byPassword, byDirectory, bySso, bySocial, byLoginLink];

export const secondFactorInput = z.strictObject({
  ...secondFactorFields,
  pending: z.string().max(200).optional(),
});

/**
 * Finishes a sign-in in two steps with the answer to the second factor. A wrong answer leaves the
 * sign-in waiting. A right answer deletes it, and the checks of the account run again.
 */
export async function answerPendingSignIn(ctx: Context, input: z.output<typeof secondFactorInput>) {
  const { id, accountId, arrival } = await requirePending(ctx, input.pending);
  const account = await Account.findByPk(accountId);
  if (account === null || account.disabledAt !== null) throw signInFailed('account_disabled');
  const answer = await answerSecondFactor(ctx, account, input);
  await spendPending(id);
  return arrival.kept(ctx, async () =>
    finishArrival(ctx, arrival, requireSession(await enterOnce(ctx, arrival, { account }, answer))),
  );
}

async function findPending({ now }: Context, token: string | undefined) {
  const row = token === undefined ? null : await PendingSignIn.findByPk(hashOfToken(token));
  if (row === null || row.expiresAt <= now) return null;
  return { id: row.id, accountId: row.accountId, arrival: arrivalIn(row) };
}

function arrivalIn({ payload }: PendingSignIn): Arrival {
  // Only `holdForSecondFactor` writes the payload.
  const stored = payload as Arrival['stored'];
  const way = ways.find(({ name }) => name === stored.by);
  if (way === undefined) throw new Error(`no arrival by ${stored.by} is held`);
  return way.resume(stored);
}

/** Returns the arrival of an unexpired token; refuses with `invalid_credential`. */
async function requirePending(ctx: Context, token: string | undefined) {
  const pending = await findPending(ctx, token);
  if (pending === null) throw nothingPending();
  return pending;
}

/**
 * The second factors that can finish a pending sign-in, with the passkey options and the
 * organization that can reset them; or null.
 */
export async function describePending(
  ctx: Context,
  token: string | undefined,
  browser: string | undefined,
) {
  const pending = await findPending(ctx, token);
  const account = pending && (await Account.findByPk(pending.accountId));
  if (account === null) return null;
  const bound = { purpose: 'secondFactor', accountId: account.id } as const;
  const asked = account.hasPasskey ? await askForPasskey(ctx, bound, browser) : null;
  return { methods: factorsOf(account), asked, helper: await findHelper(ctx, account) };
}

/** The URL that a pending sign-in leads to; undefined if none is pending. */
export async function findPendingReturn(
  ctx: Context,
  token: string | undefined,
): Promise<string | undefined> {
  const pending = await findPending(ctx, token);
  return pending === null ? undefined : pending.arrival.returnTo;
}

/** Deletes the pending sign-in, so that only one of two parallel answers succeeds. */
async function spendPending(id: string): Promise<void> {
  const spent = await transaction(() => PendingSignIn.destroy({ where: { id } }));
  if (spent === 0) throw nothingPending();
}

function nothingPending(): Refusal {
  return new Refusal('invalid_credential', 'This sign-in has expired.', { hint: 'Sign in again.' });
}
