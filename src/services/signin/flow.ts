import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { isProved } from '../../database/models/account.ts';
import { transaction } from '../../database/transaction.ts';
import { directoryLimits } from '../foundation/limits/ldap.ts';
import { giveBack, requireRoom, spend } from '../foundation/limits/limit.ts';
import { clientLimit, knownClient, passwordLimits } from '../foundation/limits/password.ts';
import { findByEmail } from '../people/accounts/account.ts';
import { checkAssertion } from '../people/passkeys/assertion.ts';
import { requireAddressForPasskeys } from '../people/passkeys/relying-party.ts';
import { inWordsOf, type openLoginLinkInput, signInFailed } from '../people/sessions/schema.ts';
import { answerSecondFactor } from '../people/two-factor/second-factor.ts';
import { proveAddress } from '../tenancy/addresses/prove-address.ts';
import type { SocialProvider } from '../tenancy/identities/social-providers.ts';
import type { DirectoryPerson } from '../tenancy/ldap/find-person.ts';
import type { signInByLdapInput } from '../tenancy/ldap/schema.ts';
import { chooseDirectory } from '../tenancy/signin-settings/methods.ts';
import { requireSameConnection } from '../tenancy/sso/connection.ts';
import { type Arrival, admit } from './admit.ts';
import { keepSsoAttempt } from './attempts.ts';
import { beginSession, requireSession } from './begin.ts';
import { answerCode, type signInByCodeInput } from './methods/codes.ts';
import { provePerson, recordRefusedByDirectory, reportDirectory } from './methods/ldap/sign-in.ts';
import { requireLinked, spendLink } from './methods/link.ts';
import { enterByPasskey, type signInByPasskeyInput } from './methods/passkey.ts';
import { proveByPassword, type signInInput } from './methods/password.ts';
import { proveBySocial, reportProvider } from './methods/social.ts';
import { proveBySso, recordRefusedBySso, reportConnection } from './methods/sso.ts';
import { acceptState, type callbackInput } from './redirect/state.ts';
import {
  isRefusalOfPerson,
  reasonOfFailure,
  reasonToRecord,
  recordRefusedSignIn,
  settle,
} from './refused.ts';

// A sign-in takes these steps:
// 1. Count the attempt, to limit guessing. A password counts when its turn to be hashed comes.
// 2. Identify the person. The files in methods/ do this.
// 3. Admit the person, in one transaction: check that the proof is still valid, find the account
//    (an external identity is linked to an account, or gets a new one), check that nothing bars it
//    (`findBar`), use up the second factor, begin the session.
//    A refusal is thrown. If only the second factor is missing, the transaction is rolled back:
//    - If the request has the answer, `admit` checks it and runs the transaction again.
//    - Else, with `inTwoSteps`, the arrival is held, and `answerPendingSignIn` takes the answer.
//    - Else the request ends in `second_factor_required`.
//    A password of an account with a second factor skips the first run. Single sign-on asks for the
//    account's own second factor only if `asksOwnSecondFactor`. A mailed code and a passkey need no
//    `admit`: the request with the code must have the answer, and a passkey counts as both factors.
// 4. Give the count back, except after `signin_failed` (for a mailed code: after `code_invalid`).
//    With LDAP, give it back too if the service account failed. Record a refused person, or a
//    server that could not be used, as an event. These have no event: a wrong TOTP code, any other
//    refusal by `answerPendingSignIn` except of a passkey, and a refusal of single sign-on before
//    the provider is asked.
//
// method           counts in, gives back in   event of a refusal by      event of a server by
// password         this file                  recordRefusedSignIn        (no server)
// mailed code      answerCode                 recordRefusedSignIn        (no server)
// passkey          this file                  recordRefusedSignIn        (no server)
// LDAP             this file, provePerson     recordRefusedByDirectory   reportDirectory
// single sign-on   nowhere                    recordRefusedBySso         reportConnection
// social           nowhere                    recordRefusedSignIn        reportProvider
// login link       nowhere                    (no event)                 (no server)
//
// A mailed code counts in the limits of the password, and allows five attempts of its own. A wrong
// second factor counts in second-factor.ts: a TOTP code for its account and the client, a passkey
// only for the client. A refused service account of LDAP counts in bind-tries.ts. `acceptState`
// accepts each state once, claims the code, and limits how many callbacks wait at once.
// `keepSsoAttempt` stores how far each accepted callback came, and what followed a right answer to
// the second factor. Sessions also begin when a social account is linked, when an address is
// confirmed after a sign-up, and after a sign-up without mail. Only `beginSession` begins one. Only
// `attachIdentity` and `attachSocial` link an external identity to an account.

/**
 * Signs in with a password (spec §4.4), on the pages if `page` is set. Every `signin_failed` gets
 * the same answer after the same work (security P7).
 */
export async function signIn(
  ctx: Context,
  input: z.output<typeof signInInput>,
  page?: { returnTo: string },
) {
  const client = await knownClient(ctx);
  await ctx.passwords.refuseIfFull(client);
  const limits = await passwordLimits(ctx, input.email);
  await requireRoom(ctx, limits);
  const account = await findByEmail(input.email);
  const { password } = input;
  const countOnTurn = () => spend(ctx, limits);
  const hash = account?.passwordHash ?? null;
  const right = await ctx.passwords.verify(hash, password, countOnTurn, client);
  try {
    const given = { right, password, client, returnTo: page?.returnTo ?? '/' };
    const proved = await proveByPassword(ctx, account, given);
    return await admit(ctx, proved.arrival, {
      account: proved.account,
      factor: input,
      inTwoSteps: page !== undefined,
      lastInTransaction: () => giveBack(ctx, limits),
    });
  } catch (error) {
    await settle(ctx, error, { method: 'password', account, limits });
    throw inWordsOf('password', error);
  }
}

/**
 * Signs in with a mailed code. The code is spent only when the sign-in completes, so it survives a
 * request for the second factor.
 */
export function signInByCode(ctx: Context, input: z.output<typeof signInByCodeInput>) {
  return answerCode(ctx, { ...input, purpose: 'signin' }, async ({ account: found, spendCode }) => {
    // An unproved account's second factor belongs to an earlier holder (security P11).
    const secondFactor = isProved(found) ? await answerSecondFactor(ctx, found, input) : null;
    return transaction(async () => {
      const account = await spendCode();
      await proveAddress(ctx, account, 'another code');
      return requireSession(
        await beginSession(ctx, account, { method: 'magicCode', secondFactor }),
      );
    });
  });
}

/** Signs in with a passkey, which counts as both factors (security P7, P16). */
export async function signInByPasskey(ctx: Context, input: z.output<typeof signInByPasskeyInput>) {
  requireAddressForPasskeys(ctx);
  const limits = [clientLimit(ctx)];
  await spend(ctx, limits);
  const bound = { purpose: 'signIn', accountId: null } as const;
  const checked = await checkAssertion(ctx, input.credential, bound, input.browser);
  try {
    if ('refused' in checked) throw signInFailed(checked.refused);
    const { account, passkeyId } = checked;
    return await transaction(async () => {
      await giveBack(ctx, limits);
      return requireSession(await enterByPasskey(ctx, account, passkeyId));
    });
  } catch (error) {
    await settle(ctx, error, { method: 'passkey', account: checked.account, limits });
    throw error;
  }
}

/**
 * Signs in through an organization's directory (spec §4.2). The attempt counts for user name and
 * client before the directory is asked, then for the entry. The counts are given back on success,
 * on any error but `signin_failed`, and on a fault of the service account (security L8).
 */
export async function signInByLdap(
  ctx: Context,
  input: z.output<typeof signInByLdapInput>,
  page?: { returnTo: string },
) {
  const connection = await chooseDirectory(ctx, input);
  const limits = directoryLimits(ctx, input.username, connection?.organizationId ?? null);
  await spend(ctx, limits);
  if (connection === null) throw inWordsOf('ldap', signInFailed('no_directory'));
  let entry: DirectoryPerson | null = null;
  try {
    const proved = await provePerson(ctx, connection, input, {
      found: (person) => {
        entry = person;
      },
      countedForEntry: (limit) => limits.push(limit),
    });
    const arrival: Arrival = { by: 'ldap', ...proved, returnTo: page?.returnTo ?? '/' };
    return await admit(ctx, arrival, {
      factor: input,
      inTwoSteps: page !== undefined,
      afterCommit: () => giveBack(ctx, limits),
    });
  } catch (error) {
    const reason = reasonOfFailure(error);
    // A null reason means that no guess was wrong. `service_…` means that the service account
    // failed, and no password was tried.
    if (reason === null || reason.startsWith('service_')) await giveBack(ctx, limits);
    if (reason !== null) await recordRefusedByDirectory(ctx, connection, { reason, person: entry });
    throw await reportDirectory(ctx, connection, error);
  }
}

/**
 * Finishes single sign-on, at the callback (spec §4.1 steps 3 to 6). Before the provider is asked,
 * `acceptState` spends the state and claims the code.
 */
export function finishSso(ctx: Context, input: z.output<typeof callbackInput>) {
  return acceptState(ctx, 'sso', input, async (accepted) => {
    const { state } = accepted;
    try {
      return await keepSsoAttempt(ctx, state.connection, async (learn) => {
        const connection = await requireSameConnection(ctx, state);
        // The provider sent the person back with an error, or without a code.
        if (input.code === undefined || input.error !== undefined)
          throw signInFailed('refused_by_provider');
        try {
          const said = await proveBySso(ctx, connection, accepted);
          learn(said);
          return await admit(ctx, { by: 'sso', state, said }, { inTwoSteps: true });
        } catch (error) {
          if (isRefusalOfPerson(error)) await recordRefusedBySso(ctx, connection, error);
          throw error;
        }
      });
    } catch (error) {
      throw await reportConnection(ctx, state.connection, error);
    }
  });
}

/**
 * Finishes a social sign-in, or the linking of a social account (spec §5.4). The state is spent
 * before the provider is asked.
 */
export function finishSocial(
  ctx: Context,
  provider: SocialProvider,
  input: z.output<typeof callbackInput>,
) {
  return acceptState(ctx, 'social', input, async (accepted) => {
    try {
      const person = await proveBySocial(ctx, provider, accepted, input);
      return await admit(
        ctx,
        { by: 'social', state: accepted.state, person },
        { inTwoSteps: true },
      );
    } catch (error) {
      const shown = await reportProvider(ctx, provider, error);
      const reason = reasonToRecord(shown);
      if (reason !== null)
        await recordRefusedSignIn(ctx, { method: provider, account: null, reason });
      throw shown;
    }
  });
}

/**
 * Signs in with the operator's link, which does not replace the second factor. The link is used up
 * when the session begins, or when the arrival is held for the second factor.
 */
export async function openLoginLink(ctx: Context, { token }: z.output<typeof openLoginLinkInput>) {
  const account = await requireLinked(ctx, token);
  const firstInTransaction = () => spendLink(account, token);
  return admit(ctx, { by: 'loginLink' }, { account, inTwoSteps: true, firstInTransaction });
}
