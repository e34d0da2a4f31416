import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { giveBack } from '../foundation/limits/limit.ts';
import type { SocialProvider } from '../tenancy/identities/social-providers.ts';
import { admit } from './admit.ts';
import { type Attempt, attempt, type WayIn, type WayTypes } from './method.ts';
import { byDirectory } from './methods/ldap/sign-in.ts';
import { byLoginLink } from './methods/link.ts';
import { byCode } from './methods/magic-code.ts';
import { byPasskey } from './methods/passkey.ts';
import { byPassword } from './methods/password.ts';
import { bySaml } from './methods/saml.ts';
import { bySocial } from './methods/social.ts';
import { bySso } from './methods/sso.ts';
import type { callbackInput } from './redirect/state.ts';

// A sign-in takes these steps, whatever the way. What differs is in the values of methods/.
// 1. Count the attempt, to limit guessing.
// 2. Identify the person.
// 3. Admit the person, in one transaction: check that the proof is still valid, find the account
//    (an external identity is linked to an account, or gets a new one), check that nothing bars it
//    (`findBar`), use up the second factor, begin the session.
//    A refusal is thrown. If only the second factor is missing, the transaction is rolled back:
//    - If the request has the answer, `admit` checks it and runs the transaction again.
//    - Else, in two steps, the arrival is held, and `answerPendingSignIn` takes the answer.
//    - Else the request ends in `second_factor_required`.
// 4. Give the count back, except after a wrong guess. Record a refused person, or a server that
//    could not be used, as an event. These have no event: a wrong TOTP code, and any other refusal
//    by `answerPendingSignIn` except of a passkey.
//
// A wrong second factor counts in second-factor.ts: a TOTP code for its account and the client, a
// passkey only for the client. A refused service account of LDAP counts in bind-tries.ts. Sessions
// also begin when a social account is linked, when an address is confirmed after a sign-up, and
// after a sign-up without mail. Only `beginSession` begins one. Only `attachIdentity` and
// `attachSocial` link an external identity to an account.

/** The sign-in by one method. Pages give `page`: then the second factor may come in a second step. */
function signInBy<K extends WayTypes>(method: WayIn<K>) {
  return (ctx: Context, input: K['input'], page?: { returnTo: string }) =>
    method.offered(ctx, input, (at) => {
      const asked = { input, at, returnTo: page?.returnTo ?? '/' };
      return attempt(ctx, method, asked, async (tried, learn) => {
        const { proof, account } = await method.prove(ctx, tried);
        learn(proof);
        const { inTwoSteps, given, first } = method.secondFactor;
        return admit(ctx, method.arrivalOf(proof), {
          account,
          factor: given?.(input),
          asksFirst: account !== undefined && first?.(account) === true,
          inTwoSteps: inTwoSteps === 'always' || (inTwoSteps === 'onPages' && page !== undefined),
          ...hooksOf(ctx, method, tried),
        });
      });
    });
}

/** What the method adds to the transaction of the sign-in, and to what follows it. */
function hooksOf<K extends WayTypes>(ctx: Context, { limits, spend }: WayIn<K>, tried: Attempt<K>) {
  const giveBackAt = async (point: 'firstInTransaction' | 'lastInTransaction' | 'afterCommit') => {
    if (limits?.givesBack === point) await giveBack(ctx, tried.limits);
  };
  return {
    firstInTransaction: async () => {
      await spend?.(tried);
      await giveBackAt('firstInTransaction');
    },
    lastInTransaction: () => giveBackAt('lastInTransaction'),
    afterCommit: () => giveBackAt('afterCommit'),
  };
}

/** Signs in with a password (spec §4.4). */
export const signIn = signInBy(byPassword);

/** Signs in with a mailed code. */
export const signInByCode = signInBy(byCode);

/** Signs in with a passkey, which counts as both factors (security P7, P16). */
export const signInByPasskey = signInBy(byPasskey);

/** Signs in through an organization's directory (spec §4.2). */
export const signInByLdap = signInBy(byDirectory);

/** Finishes single sign-on, at the callback (spec §4.1 steps 3 to 6). */
export const finishSso = signInBy(bySso);

/** Finishes single sign-on by SAML, when the browser comes for the verified answer. */
export const finishSaml = signInBy(bySaml);

const finishBySocial = signInBy(bySocial);

/** Finishes a social sign-in, or the linking of a social account (spec §5.4). */
export function finishSocial(
  ctx: Context,
  provider: SocialProvider,
  callback: z.output<typeof callbackInput>,
) {
  return finishBySocial(ctx, { provider, callback });
}

/** Signs in with the operator's link, which does not replace the second factor. */
export const openLoginLink = signInBy(byLoginLink);
