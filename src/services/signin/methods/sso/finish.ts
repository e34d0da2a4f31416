import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import type { SsoConnection } from '../../../../database/models/sso-connection.ts';
import { transaction } from '../../../../database/transaction.ts';
import { Refusal } from '../../../../errors.ts';
import type { Proof } from '../../../../outbound/outbound.ts';
import { tallyEvent } from '../../../foundation/events/tally.ts';
import { signInFailed } from '../../../people/sessions/failed.ts';
import { accountAsked } from '../../../people/two-factor/refusals.ts';
import { openClientSecret } from '../../../tenancy/sso/secret.ts';
import { keepAttempt } from '../../attempts/attempt.ts';
import { holdForSecondFactor } from '../../pending.ts';
import { acceptState } from '../../redirect/accept.ts';
import type { callbackInput } from '../../redirect/schema.ts';
import { type FlowState, secretsOf } from '../../redirect/state.ts';
import { admit } from './admit.ts';
import { readProof, type Said } from './claims.ts';
import { requireSameConnection } from './same-connection.ts';
import { toldOutside } from './unreached.ts';

type Input = z.output<typeof callbackInput>;

/**
 * The callback (spec §4.1 step 3 to 5): the state is accepted once, the code redeemed, the person
 * admitted and a session begun. Whatever is wrong with the sign-in is one answer outside; only a
 * provider that cannot be reached is told apart. The state is spent in a transaction of its own,
 * before the network; everything else is written in one, after it, and the attempt in one of its own.
 */
export async function finishSso(ctx: Context, input: Input) {
  return acceptState(ctx, 'sso', input, async (state) => {
    try {
      return await keepAttempt(ctx, state.connection, (learn) => signIn(ctx, input, state, learn));
    } catch (error) {
      throw await toldOutside(ctx, state.connection, error);
    }
  });
}

async function signIn(ctx: Context, input: Input, state: FlowState, learn: (said: Said) => void) {
  const connection = await requireSameConnection(ctx, state);
  if (input.code === undefined || input.error !== undefined) throw signInFailed('refused_by_provider');
  try {
    const said = readProof(await redeem(ctx, input, connection, state), connection.groupsClaim);
    learn(said);
    const session = await admitOrHold(ctx, state, said);
    return { ...session, returnTo: state.returnTo };
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthenticated' && accountAsked(error) === null)
      await recordRefused(ctx, connection, error);
    throw error instanceof Refusal && error.code === 'provider_refused'
      ? signInFailed('provider_refused', error)
      : error;
  }
}

function redeem(
  ctx: Context,
  input: Input,
  connection: SsoConnection,
  state: { id: string; redirectUri: string },
): Promise<Proof> {
  const { code = '', state: text = '', iss } = input;
  const query = { code, state: text, ...(iss === undefined ? {} : { iss }) };
  return ctx.outbound.redeem(
    {
      issuer: connection.issuer,
      clientId: connection.clientId,
      redirectUri: state.redirectUri,
      clientSecret: openClientSecret(ctx, connection),
    },
    { query, state: text, ...secretsOf(ctx, state.id) },
  );
}

/** Where the connection asks for our second factor too, the arrival is kept until the code comes. */
async function admitOrHold(ctx: Context, state: FlowState, said: Said) {
  try {
    return await admit(ctx, state, said);
  } catch (error) {
    const accountId = accountAsked(error);
    if (accountId === null) throw error;
    throw await holdForSecondFactor(ctx, accountId, { by: 'sso', state, said });
  }
}

/** One event per connection and reason in a quarter of an hour (security X5). */
async function recordRefused(ctx: Context, connection: SsoConnection, refusal: Refusal): Promise<void> {
  const reason = reasonOf(refusal);
  const what = {
    kind: 'sso.signin.refused' as const,
    organizationId: connection.organizationId,
    subject: { type: 'sso', id: connection.id, name: connection.emailDomain ?? connection.issuer },
    data: { reason },
  };
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart: reason }));
}

function reasonOf(refusal: Refusal): string {
  const { cause, extra } = refusal;
  if (typeof cause === 'object' && cause !== null && 'reason' in cause) return String(cause.reason);
  return String(extra['reason'] ?? refusal.code);
}
