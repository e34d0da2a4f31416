import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { assertNoTransaction, transaction, transactionIf } from '../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../database/unique.ts';
import { Refusal } from '../../errors.ts';
import { knownClient } from '../foundation/limits/known-client.ts';
import { directoryLimits } from '../foundation/limits/ldap.ts';
import { passwordLimits } from '../foundation/limits/password.ts';
import { giveBack, requireRoom, spend } from '../foundation/limits/spend.ts';
import { findByEmail } from '../people/accounts/find.ts';
import { isProved } from '../people/accounts/view.ts';
import { inWordsOf, signInFailed } from '../people/sessions/failed.ts';
import type { signInInput } from '../people/sessions/schema.ts';
import { answerSecondFactor, type SecondFactor } from '../people/two-factor/answer.ts';
import { secondFactorRequired } from '../people/two-factor/refusals.ts';
import { syncDirectoryGroups, syncGroups } from '../provisioning/mappings/reconcile.ts';
import type { SocialProvider } from '../tenancy/identities/providers.ts';
import type { signInByLdapInput } from '../tenancy/ldap/schema.ts';
import { chooseDirectory } from '../tenancy/signin-settings/directory.ts';
import type { openLoginLinkInput } from '../tenancy/signin-settings/schema.ts';
import { keepAttempt } from './attempts/attempt.ts';
import { type Begun, beginSession, requireSession } from './begin.ts';
import { answerCode } from './methods/codes/answer.ts';
import { proveAddress } from './methods/codes/prove.ts';
import type { signInByCodeInput } from './methods/codes/schema.ts';
import { enterByDirectory, seenAs } from './methods/ldap/enter.ts';
import type { DirectoryPerson } from './methods/ldap/person.ts';
import { recordRefusedByDirectory, toldOfDirectory } from './methods/ldap/refused.ts';
import { provePerson } from './methods/ldap/visit.ts';
import { enterByLink, requireLinked, spendLink } from './methods/link.ts';
import { arriveByPassword, enterByPassword, judgePassword } from './methods/password.ts';
import { enterBySocial } from './methods/social/enter.ts';
import { proveBySocial } from './methods/social/prove.ts';
import { toldOfProvider } from './methods/social/told.ts';
import { enterBySso } from './methods/sso/enter.ts';
import { proveBySso, recordRefusedBySso } from './methods/sso/prove.ts';
import { requireSameConnection } from './methods/sso/same-connection.ts';
import { toldOfConnection } from './methods/sso/unreached.ts';
import {
  type Arrival,
  holdForSecondFactor,
  requirePending,
  returnToOf,
  spendPending,
} from './pending.ts';
import { acceptState } from './redirect/accept.ts';
import type { callbackInput } from './redirect/schema.ts';
import { reasonOfFailure, reasonToRecord, recordRefusedSignIn } from './refused.ts';

// Every sign-in takes these steps. A mailed code and the operator's link prove and count elsewhere:
// their functions name the file.
// 1. Count the try, so that guessing is limited.
// 2. Prove who the person is. The files in methods/ do this; the result is an `Arrival`.
// 3. Let the person in (`admit`): find the account, check the second factor, begin the session.
// 4. If this fails, record the refusal. The second of two steps records only for single sign-on.
// Only `beginSession` issues a session. Only `attachIdentity` and `attachSocial` find the account
// of an external identity.

/** A sign-in on the pages: its next URL. The second factor's code may come in a second step. */
interface Page {
  returnTo: string;
}

/**
 * Signs in by password (spec §4.4). Every failure gets the same answer after the same work
 * (security P7, P8).
 */
export async function signIn(ctx: Context, input: z.output<typeof signInInput>, page?: Page) {
  const client = await knownClient(ctx);
  await ctx.passwords.requirePlace(client);
  const limits = await passwordLimits(ctx, input.email);
  await requireRoom(ctx, limits);
  const account = await findByEmail(input.email);
  const count = () => spend(ctx, limits);
  const right = await ctx.passwords.verify(
    account?.passwordHash ?? null,
    input.password,
    count,
    client,
  );
  try {
    const proof = judgePassword(ctx, account, right);
    if ('refused' in proof) throw signInFailed(proof.refused);
    const { password, totpCode } = input;
    const given = { password, client, returnTo: page?.returnTo ?? '/' };
    const arrival = await arriveByPassword(ctx, proof.proved, given);
    return await admit(ctx, arrival, {
      account: proof.proved,
      totpCode,
      inTwoSteps: page !== undefined,
      within: () => giveBack(ctx, limits),
    });
  } catch (error) {
    // Any other error comes after a right password, such as a request for the second factor.
    if (reasonOfFailure(error) === null) await giveBack(ctx, limits);
    const reason = reasonToRecord(error);
    if (reason !== null) await recordRefusedSignIn(ctx, { method: 'password', account, reason });
    throw inWordsOf('password', error);
  }
}

/**
 * Signs in by a mailed code. The code is spent only when the sign-in completes, so it survives a
 * request for the second factor.
 */
export function signInByCode(ctx: Context, input: z.output<typeof signInByCodeInput>) {
  return answerCode(ctx, { ...input, purpose: 'signin' }, async ({ account: found, open }) => {
    // An unproved account's second factor belongs to an earlier holder (security P11).
    const secondFactor = isProved(found)
      ? await answerSecondFactor(ctx, found, input.totpCode)
      : null;
    return transaction(async () => {
      const account = await open();
      await proveAddress(ctx, account, 'another code');
      return requireSession(
        await beginSession(ctx, account, { method: 'magicCode', secondFactor }),
      );
    });
  });
}

/**
 * Signs in by an organization's directory (spec §4.2). The try is counted before the directory is
 * asked. It is returned unless the directory refused the person's credential (security L7, L8).
 */
export async function signInByLdap(
  ctx: Context,
  input: z.output<typeof signInByLdapInput>,
  page?: Page,
) {
  const connection = await chooseDirectory(ctx, input);
  const limits = directoryLimits(ctx, input.username, connection?.organizationId ?? null);
  await spend(ctx, limits);
  if (connection === null) throw inWordsOf('ldap', signInFailed('no_directory'));
  let found: DirectoryPerson | null = null;
  try {
    const person = await provePerson(ctx, connection, input, {
      found: (entry) => {
        found = entry;
      },
      counted: (limit) => limits.push(limit),
    });
    const arrival: Arrival = {
      by: 'ldap',
      connection: seenAs(connection),
      person,
      returnTo: page?.returnTo ?? '/',
    };
    return await admit(ctx, arrival, {
      totpCode: input.totpCode,
      inTwoSteps: page !== undefined && input.totpCode === undefined,
      afterwards: () => giveBack(ctx, limits),
    });
  } catch (error) {
    const reason = reasonOfFailure(error);
    // The try is returned if the directory did not refuse the person's credential.
    if (reason === null || reason.startsWith('service_')) await giveBack(ctx, limits);
    if (reason !== null) await recordRefusedByDirectory(ctx, connection, { reason, person: found });
    throw await toldOfDirectory(ctx, connection, error);
  }
}

/**
 * Finishes single sign-on, at the callback (spec §4.1 step 3 to 6). The state is spent before the
 * provider is asked; all else is written after. The attempt is kept, however it ends.
 */
export function finishSso(ctx: Context, input: z.output<typeof callbackInput>) {
  return acceptState(ctx, 'sso', input, async (state) => {
    try {
      return await keepAttempt(ctx, state.connection, async (learn) => {
        const connection = await requireSameConnection(ctx, state);
        // The provider sent the person back with an error, or without a code.
        if (input.code === undefined || input.error !== undefined)
          throw signInFailed('refused_by_provider');
        try {
          const said = await proveBySso(ctx, input, connection, state);
          learn(said);
          return await admit(ctx, { by: 'sso', state, said }, { inTwoSteps: true });
        } catch (error) {
          if (isRefusalOfPerson(error)) await recordRefusedBySso(ctx, connection, error);
          throw error;
        }
      });
    } catch (error) {
      throw await toldOfConnection(ctx, state.connection, error);
    }
  });
}

/**
 * Finishes a social sign-in, at the callback (spec §5.4). As with single sign-on, the state is
 * spent before the provider is asked.
 */
export function finishSocial(
  ctx: Context,
  provider: SocialProvider,
  input: z.output<typeof callbackInput>,
) {
  return acceptState(ctx, 'social', input, async (state) => {
    try {
      const person = await proveBySocial(ctx, provider, state, input);
      return await admit(ctx, { by: 'social', state, person }, { inTwoSteps: true });
    } catch (error) {
      const told = await toldOfProvider(ctx, provider, error);
      const reason = reasonToRecord(told);
      if (reason !== null)
        await recordRefusedSignIn(ctx, { method: provider, account: null, reason });
      throw told;
    }
  });
}

/**
 * Signs in by the operator's link and uses it up. The account's second factor, if any, is still
 * asked for.
 */
export async function openLoginLink(ctx: Context, { token }: z.output<typeof openLoginLinkInput>) {
  const account = await requireLinked(ctx, token);
  const before = () => spendLink(account, token);
  return admit(ctx, { by: 'loginLink' }, { account, inTwoSteps: true, before });
}

export const secondFactorInput = z.strictObject({
  totpCode: z.string().max(20),
  pending: z.string().max(200).optional(),
});

/**
 * Finishes a sign-in in two steps with the code of the second factor. A wrong code leaves the
 * sign-in waiting. A right code uses it up, and every other check runs again.
 */
export async function answerPendingSignIn(ctx: Context, input: z.output<typeof secondFactorInput>) {
  const { id, accountId, arrival } = await requirePending(ctx, input.pending);
  const account = await Account.findByPk(accountId);
  if (account === null || account.disabledAt !== null) throw signInFailed('account_disabled');
  const answer = await answerSecondFactor(ctx, account, input.totpCode);
  await spendPending(id);
  const finish = async () =>
    sessionOf(ctx, arrival, requireSession(await enter(ctx, arrival, { account }, answer)));
  if (arrival.by !== 'sso') return finish();
  return keepAttempt(ctx, arrival.state.connection, (learn) => {
    learn(arrival.said);
    return finish();
  });
}

/** The facts and hooks that a method gives to `admit`. */
interface Admission {
  /** The account, if the method knows it before the person is let in. */
  account?: Account;
  totpCode?: string | undefined;
  /** Whether the code of the second factor may come later. */
  inTwoSteps: boolean;
  /** Runs first in the transaction that begins the session or keeps the arrival. */
  before?: () => Promise<void>;
  /** Runs last in the transaction that begins the session. */
  within?: () => Promise<void>;
  /** Runs once the session has begun. */
  afterwards?: () => Promise<void>;
}

/**
 * Lets a proven person in. Only the account tells whether a second factor is needed. The account
 * may be known only after the person is attached to it, so `enter` may run twice (security P12).
 * The first run is then rolled back. The code is checked outside the transaction, so that a wrong
 * one stays counted.
 */
export async function admit(ctx: Context, arrival: Arrival, admission: Admission) {
  const { account, totpCode, inTwoSteps, before, afterwards } = admission;
  const known =
    arrival.by === 'password' && account !== undefined && account.totpEnabledAt !== null;
  // If the account is known to have a second factor, the first run is left out.
  let begun: Begun = known ? { asks: account.id } : await enter(ctx, arrival, admission, null);
  if ('asks' in begun) {
    const { asks } = begun;
    if (totpCode === undefined && inTwoSteps) {
      // On the pages the arrival is kept, and the code comes in a second step.
      throw await transaction(async () => {
        await before?.();
        return holdForSecondFactor(ctx, asks, arrival);
      });
    }
    const asked = await Account.findByPk(asks);
    if (asked === null) throw secondFactorRequired();
    begun = await enter(ctx, arrival, admission, await answerSecondFactor(ctx, asked, totpCode));
  }
  const session = requireSession(begun);
  await afterwards?.();
  return sessionOf(ctx, arrival, session);
}

/**
 * Attaches the person and begins the session, in one transaction; rolls back if the second factor
 * must be asked for. Of two parallel first sign-ins, the loser starts over and finds the account.
 */
function enter(
  ctx: Context,
  arrival: Arrival,
  { account, before, within }: Pick<Admission, 'account' | 'before' | 'within'>,
  answer: SecondFactor | null,
): Promise<Begun> {
  // Inside another transaction idctl could not roll the work back.
  assertNoTransaction('a sign-in');
  const begin = async () => {
    await before?.();
    const begun = await enterBy(ctx, arrival, account, answer);
    if ('session' in begun) await within?.();
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
  // The last two methods know the account from the start.
  if (account === undefined) throw new Error(`the account of a sign-in by ${arrival.by} is known`);
  if (arrival.by === 'loginLink') return enterByLink(ctx, account, answer);
  return enterByPassword(ctx, account, arrival, answer);
}

/**
 * Returns the answer to a sign-in. Group sync runs first and never fails the sign-in (spec §4.1
 * step 6).
 */
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

/** Whether the person was refused, rather than asked for a second factor. */
function isRefusalOfPerson(error: unknown): error is Refusal {
  return (
    error instanceof Refusal &&
    error.kind === 'unauthenticated' &&
    error.code !== 'second_factor_required'
  );
}
