import type { Context } from '../../context.ts';
import { hashOfToken, randomToken } from '../../crypto/secret.ts';
import { hold } from '../../database/hold.ts';
import type { Account } from '../../database/models/account.ts';
import { PendingSignIn } from '../../database/models/pending-sign-in.ts';
import { assertNoTransaction, transaction, transactionIf } from '../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../database/unique.ts';
import { after } from '../foundation/time.ts';
import { signInFailed } from '../people/sessions/schema.ts';
import { askSecondFactor } from '../people/two-factor/asking.ts';
import {
  answerSecondFactor,
  type GivenFactor,
  isGiven,
  type SecondFactor,
} from '../people/two-factor/second-factor.ts';
import { type Begun, requireSession } from './begin.ts';
import type { Arrival } from './method.ts';

// Signs in a person whose identity is proved, immediately or in a second step with the second
// factor.

/** What `admit` gets besides the arrival. */
interface Admission {
  /** The account, if the method knows it before the session begins. */
  account?: Account | undefined;
  /** The answer to the second factor, if the request has one. */
  factor?: GivenFactor | undefined;
  /** Whether the known account is asked for its second factor before the first run. */
  asksFirst?: boolean;
  /** Whether the answer to the second factor may come in a later request. */
  inTwoSteps: boolean;
  /** Runs first in the transaction that begins the session or holds the arrival. */
  firstInTransaction?: () => Promise<void>;
  /** Runs last in the transaction that begins the session. */
  lastInTransaction?: () => Promise<void>;
  /** Runs after the transaction that begins the session. */
  afterCommit?: () => Promise<void>;
}

/**
 * Signs in a person whose identity is proved. The account decides whether a second factor is
 * needed; at single sign-on, so does the connection. Most methods know the account only once the
 * person is attached. So `enter` may run twice (security P12), and the first run is then rolled
 * back. The answer is checked outside the transaction, so that a wrong answer stays counted.
 */
export async function admit(ctx: Context, arrival: Arrival, admission: Admission) {
  const { account, factor = {}, asksFirst, inTwoSteps } = admission;
  const { firstInTransaction, afterCommit } = admission;
  let begun: Begun =
    account !== undefined && asksFirst === true
      ? { asks: account }
      : await enterOnce(ctx, arrival, admission, null);
  if ('asks' in begun) {
    const { asks } = begun;
    if (!isGiven(factor) && inTwoSteps) {
      // The arrival is held, and the answer comes in a second step.
      throw await transaction(async () => {
        await firstInTransaction?.();
        return holdForSecondFactor(ctx, asks.id, arrival);
      });
    }
    begun = await enterOnce(ctx, arrival, admission, await answerSecondFactor(ctx, asks, factor));
  }
  const session = requireSession(begun);
  await afterCommit?.();
  return finishArrival(ctx, arrival, session);
}

/**
 * Attaches the person and begins the session, in one transaction; rolls back if the second factor
 * must be asked for. If two first sign-ins run in parallel, one starts over and finds the account.
 */
export function enterOnce(
  ctx: Context,
  arrival: Arrival,
  {
    account,
    firstInTransaction,
    lastInTransaction,
  }: Pick<Admission, 'account' | 'firstInTransaction' | 'lastInTransaction'>,
  secondFactor: SecondFactor | null,
): Promise<Begun> {
  // Inside another transaction, this work could not be rolled back alone.
  assertNoTransaction('a sign-in');
  const begin = async () => {
    await firstInTransaction?.();
    const begun = await arrival.enter(ctx, { account, secondFactor });
    if ('session' in begun) await lastInTransaction?.();
    return begun;
  };
  return retryOnceWhenOvertaken(() => transactionIf(begin, (begun) => 'session' in begun));
}

/** Syncs the groups, which never fails the sign-in (spec §4.1 step 6), and returns the answer. */
export async function finishArrival<Session extends { user: { id: string } }>(
  ctx: Context,
  arrival: Arrival,
  session: Session,
) {
  await arrival.syncGroups(ctx, session.user.id);
  return { ...session, returnTo: arrival.returnTo };
}

const pendingSeconds = 5 * 60;

/** Holds an arrival for five minutes. Returns the refusal that asks for the second factor. */
export async function holdForSecondFactor(
  ctx: Context,
  accountId: string,
  { stored }: Pick<Arrival, 'stored'>,
) {
  const token = randomToken(256);
  const row = {
    id: hashOfToken(token),
    accountId,
    payload: stored,
    expiresAt: after(ctx.now, pendingSeconds),
  };
  return transaction(async () => {
    // An arrival must not be stored while another transaction ends the account's sign-ins.
    const account = await hold.account(accountId, 'beside');
    if (account === null || account.disabledAt !== null) throw signInFailed('account_disabled');
    await PendingSignIn.create(row);
    return askSecondFactor(ctx, account, undefined, token);
  });
}
