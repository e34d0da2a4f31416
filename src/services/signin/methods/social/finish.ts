import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { Refusal } from '../../../../errors.ts';
import { signInFailed } from '../../../people/sessions/failed.ts';
import { accountAsked } from '../../../people/two-factor/refusals.ts';
import { findSocialClient, type SocialProvider } from '../../../tenancy/identities/providers.ts';
import { holdForSecondFactor } from '../../pending.ts';
import { acceptState } from '../../redirect/accept.ts';
import type { callbackInput } from '../../redirect/schema.ts';
import { type FlowState, secretsOf } from '../../redirect/state.ts';
import { reasonToRecord, recordRefusedSignIn } from '../../refused.ts';
import { admitSocial } from './admit.ts';
import { requirePerson, type SocialPerson } from './person.ts';
import { toldOutside } from './told.ts';

type Input = z.output<typeof callbackInput>;

/**
 * The callback of a social sign-in (spec §5.4): the state is accepted once, the code redeemed, the person admitted. As
 * with single sign-on, the state is spent before the network and everything else is written after it.
 */
export function finishSocial(ctx: Context, provider: SocialProvider, input: Input) {
  return acceptState(ctx, 'social', input, (state) => enter(ctx, provider, input, state));
}

async function enter(ctx: Context, provider: SocialProvider, input: Input, state: FlowState) {
  try {
    const session = await admitOrHold(ctx, state, await redeem(ctx, provider, state, input));
    return { ...session, returnTo: state.returnTo };
  } catch (error) {
    const told =
      error instanceof Refusal && error.code === 'provider_refused'
        ? signInFailed('provider_refused', error)
        : await toldOutside(ctx, provider, error);
    const reason = reasonToRecord(told);
    if (reason !== null) await recordRefusedSignIn(ctx, { method: provider, account: null, reason });
    throw told;
  }
}

async function redeem(
  ctx: Context,
  provider: SocialProvider,
  state: FlowState,
  { code, state: text = '', iss, error }: Input,
): Promise<SocialPerson> {
  const client = requireSameClient(ctx, provider, state);
  requireSamePerson(ctx, state);
  if (code === undefined || error !== undefined) throw signInFailed('refused_by_provider');
  const query = { code, state: text, ...(iss === undefined ? {} : { iss }) };
  return requirePerson(
    await ctx.outbound.redeemSocial(client, { query, state: text, ...secretsOf(ctx, state.id) }),
  );
}

/** What is registered at the provider now, if the state was made for it (security S6). */
function requireSameClient(ctx: Context, provider: SocialProvider, state: FlowState) {
  const client = findSocialClient(ctx, provider);
  const same =
    state.connection === provider && client?.issuer === state.issuer && client.clientId === state.clientId;
  if (client === null || !same) throw signInFailed('connection_changed');
  return client;
}

/** Whoever began to link must still be the one who is signed in. */
function requireSamePerson({ actor }: Context, { linkTo }: FlowState): void {
  if (linkTo === undefined) return;
  const same = actor.kind === 'user' && actor.via === 'session' && actor.accountId === linkTo;
  if (!same) throw signInFailed('other_person');
}

async function admitOrHold(ctx: Context, state: FlowState, person: SocialPerson) {
  try {
    return await admitSocial(ctx, state, person, null);
  } catch (error) {
    const accountId = accountAsked(error);
    if (accountId === null) throw error;
    throw await holdForSecondFactor(ctx, accountId, { by: 'social', state, person });
  }
}
