import { z } from 'zod';
import type { Context } from '../../context.ts';
import { hashOfToken, randomToken } from '../../crypto/secret.ts';
import { Account, hasSecondFactor } from '../../database/models/account.ts';
import { PendingSignIn } from '../../database/models/pending-sign-in.ts';
import { assertNoTransaction, transaction, transactionIf } from '../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../database/unique.ts';
import { Refusal } from '../../errors.ts';
import { after } from '../foundation/time.ts';
import { lockAccount } from '../people/accounts/account.ts';
import { askForPasskey } from '../people/passkeys/assertion.ts';
import { signInFailed } from '../people/sessions/schema.ts';
import { askSecondFactor, factorsOf } from '../people/two-factor/asking.ts';
import {
  answerSecondFactor,
  type GivenFactor,
  isGiven,
  type SecondFactor,
  secondFactorFields,
} from '../people/two-factor/second-factor.ts';
import { syncDirectoryGroups, syncGroups } from '../provisioning/mappings/reconcile.ts';
import type { DirectoryPerson } from '../tenancy/ldap/find-person.ts';
import type { Said } from '../tenancy/sso/claims.ts';
import { keepSsoAttempt } from './attempts.ts';
import { type Begun, requireSession } from './begin.ts';
import { enterByDirectory, type SeenConnection } from './methods/ldap/sign-in.ts';
import { enterByLink } from './methods/link.ts';
import { enterByPassword } from './methods/password.ts';
import { enterBySocial, type SocialPerson } from './methods/social.ts';
import { enterBySso } from './methods/sso.ts';
import type { FlowState } from './redirect/state.ts';

// Admits a proven person, at once or in a second step with the second factor.

/** How a person has proved who they are. It is stored for a second step, so its size is bounded. */
export type Arrival =
  | { by: 'sso'; state: FlowState; said: Said }
  | { by: 'social'; state: FlowState; person: SocialPerson }
  | { by: 'loginLink' }
  | { by: 'password'; checked: string; returnTo: string }
  | { by: 'ldap'; connection: SeenConnection; person: DirectoryPerson; returnTo: string };

/** The facts and hooks that a method gives to `admit`. */
interface Admission {
  /** The account, if the method knows it before the person is admitted. */
  account?: Account;
  /** The answer to the second factor, if the request has one. */
  factor?: GivenFactor;
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
 * Admits a proven person. The account decides whether a second factor is needed; at single sign-on,
 * the connection decides too. Most methods know the account only once the person is attached. So
 * `enter` may run twice (security P12): the first run is then rolled back. The answer is checked
 * outside the transaction, so that a wrong answer stays counted.
 */
export async function admit(ctx: Context, arrival: Arrival, admission: Admission) {
  const { account, factor = {}, inTwoSteps, firstInTransaction, afterCommit } = admission;
  const known = arrival.by === 'password' && account !== undefined && hasSecondFactor(account);
  // After a password, the account is known: if it has a second factor, the first run is skipped.
  let begun: Begun = known ? { asks: account } : await enter(ctx, arrival, admission, null);
  if ('asks' in begun) {
    const { asks } = begun;
    if (!isGiven(factor) && inTwoSteps) {
      // The arrival is held, and the answer comes in a second step.
      throw await transaction(async () => {
        await firstInTransaction?.();
        return holdForSecondFactor(ctx, asks.id, arrival);
      });
    }
    begun = await enter(ctx, arrival, admission, await answerSecondFactor(ctx, asks, factor));
  }
  const session = requireSession(begun);
  await afterCommit?.();
  return sessionOf(ctx, arrival, session);
}

/**
 * Attaches the person and begins the session, in one transaction; rolls back if the second factor
 * must be asked for. If two first sign-ins run in parallel, one starts over and finds the account.
 */
function enter(
  ctx: Context,
  arrival: Arrival,
  {
    account,
    firstInTransaction,
    lastInTransaction,
  }: Pick<Admission, 'account' | 'firstInTransaction' | 'lastInTransaction'>,
  answer: SecondFactor | null,
): Promise<Begun> {
  // Inside another transaction, this work could not be rolled back alone.
  assertNoTransaction('a sign-in');
  const begin = async () => {
    await firstInTransaction?.();
    const begun = await enterBy(ctx, arrival, account, answer);
    if ('session' in begun) await lastInTransaction?.();
    return begun;
  };
  return retryOnceWhenOvertaken(() => transactionIf(begin, (begun) => 'session' in begun));
}

function enterBy(
  ctx: Context,
  arrival: Arrival,
  account: Account | undefined,
  answer: SecondFactor | null,
): Promise<Begun> {
  if (arrival.by === 'sso') return enterBySso(ctx, arrival, answer);
  if (arrival.by === 'social') return enterBySocial(ctx, arrival, answer);
  if (arrival.by === 'ldap') return enterByDirectory(ctx, arrival, answer);
  // A login link and a password know the account from the start.
  if (account === undefined) throw new Error(`a sign-in by ${arrival.by} has no account`);
  if (arrival.by === 'loginLink') return enterByLink(ctx, account, answer);
  return enterByPassword(ctx, account, arrival, answer);
}

/** Syncs the groups, which never fails the sign-in (spec §4.1 step 6), and returns the answer. */
async function sessionOf<Session extends { user: { id: string } }>(
  ctx: Context,
  arrival: Arrival,
  session: Session,
) {
  const { id } = session.user;
  if (arrival.by === 'sso')
    await syncGroups(ctx, arrival.state.connection, id, arrival.said.groups);
  if (arrival.by === 'ldap')
    await syncDirectoryGroups(ctx, arrival.connection.id, id, arrival.person.groups);
  return { ...session, returnTo: returnToOf(arrival) };
}

/** The URL that the person goes to after the sign-in. */
function returnToOf(arrival: Arrival): string {
  if (arrival.by === 'loginLink') return '/';
  return 'state' in arrival ? arrival.state.returnTo : arrival.returnTo;
}

const pendingSeconds = 5 * 60;

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
  const finish = async () =>
    sessionOf(ctx, arrival, requireSession(await enter(ctx, arrival, { account }, answer)));
  if (arrival.by !== 'sso') return finish();
  return keepSsoAttempt(ctx, arrival.state.connection, (learn) => {
    learn(arrival.said);
    return finish();
  });
}

/** Holds an arrival for five minutes. Returns the refusal that asks for the second factor. */
export async function holdForSecondFactor(ctx: Context, accountId: string, arrival: Arrival) {
  const token = randomToken(256);
  const row = {
    id: hashOfToken(token),
    accountId,
    payload: arrival,
    expiresAt: after(ctx.now, pendingSeconds),
  };
  return transaction(async () => {
    // Locked, so that no arrival is held while another transaction ends the account's sign-ins.
    const account = await lockAccount(accountId, 'beside');
    if (account === null || account.disabledAt !== null) throw signInFailed('account_disabled');
    await PendingSignIn.create(row);
    return askSecondFactor(ctx, account, undefined, token);
  });
}

async function findPending({ now }: Context, token: string | undefined) {
  const row = token === undefined ? null : await PendingSignIn.findByPk(hashOfToken(token));
  if (row === null || row.expiresAt <= now) return null;
  // Only `holdForSecondFactor` writes the payload.
  return { id: row.id, accountId: row.accountId, arrival: row.payload as Arrival };
}

/** Returns the arrival of an unexpired token; refuses `invalid_credential`. */
async function requirePending(ctx: Context, token: string | undefined) {
  const pending = await findPending(ctx, token);
  if (pending === null) throw nothingPending();
  return pending;
}

/** The second factors that can finish a pending sign-in, with the passkey options; or null. */
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
  return { methods: factorsOf(account), asked };
}

/** The URL that a pending sign-in leads to; undefined if none is pending. */
export async function findPendingReturn(
  ctx: Context,
  token: string | undefined,
): Promise<string | undefined> {
  const pending = await findPending(ctx, token);
  return pending === null ? undefined : returnToOf(pending.arrival);
}

/** Deletes the pending sign-in, so that only one of two parallel answers succeeds. */
async function spendPending(id: string): Promise<void> {
  const spent = await transaction(() => PendingSignIn.destroy({ where: { id } }));
  if (spent === 0) throw nothingPending();
}

function nothingPending(): Refusal {
  return new Refusal('invalid_credential', 'This sign-in has expired.', { hint: 'Sign in again.' });
}
