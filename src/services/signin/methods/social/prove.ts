import type { z } from 'zod';
import type { Context } from '../../../../context.ts';
import { Refusal } from '../../../../errors.ts';
import { signInFailed } from '../../../people/sessions/sign-in.ts';
import { findSocialClient, type SocialProvider } from '../../../tenancy/identities/providers.ts';
import type { callbackInput } from '../../redirect/schema.ts';
import { type FlowState, secretsOf } from '../../redirect/state.ts';
import { requirePerson, type SocialPerson } from './person.ts';

type Input = z.output<typeof callbackInput>;

/**
 * Redeems the returned code for the person that the provider names (spec §5.4). Refuses
 * `signin_failed`.
 */
export async function proveBySocial(
  ctx: Context,
  provider: SocialProvider,
  state: FlowState,
  { code, state: text = '', iss, error }: Input,
): Promise<SocialPerson> {
  const client = requireSameClient(ctx, provider, state);
  requireSamePerson(ctx, state);
  if (code === undefined || error !== undefined) throw signInFailed('refused_by_provider');
  const query = { code, state: text, ...(iss === undefined ? {} : { iss }) };
  const given = { query, state: text, ...secretsOf(ctx, state.id) };
  const word = await ctx.outbound.redeemSocial(client, given).catch((failure: unknown) => {
    const refused = failure instanceof Refusal && failure.code === 'provider_refused';
    throw refused ? signInFailed('provider_refused', failure) : failure;
  });
  return requirePerson(word);
}

/** The client now registered at the provider, if the state was made for it (security S6). */
function requireSameClient(ctx: Context, provider: SocialProvider, state: FlowState) {
  const client = findSocialClient(ctx, provider);
  const same =
    state.connection === provider &&
    client?.issuer === state.issuer &&
    client.clientId === state.clientId;
  if (client === null || !same) throw signInFailed('connection_changed');
  return client;
}

/** The person who began to link must still be the one who is signed in. */
function requireSamePerson({ actor }: Context, { linkTo }: FlowState): void {
  if (linkTo === undefined) return;
  const same = actor.kind === 'user' && actor.via === 'session' && actor.accountId === linkTo;
  if (!same) throw signInFailed('other_person');
}
