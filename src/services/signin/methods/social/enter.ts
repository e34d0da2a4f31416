import type { Context } from '../../../../context.ts';
import { holdAccount } from '../../../people/accounts/account.ts';
import { signInFailed } from '../../../people/sessions/sign-in.ts';
import type { SecondFactor } from '../../../people/two-factor/second-factor.ts';
import { attachSocial } from '../../../tenancy/identities/attach.ts';
import { socialProviders } from '../../../tenancy/identities/providers.ts';
import { joinByDomain } from '../../../tenancy/signin-settings/methods.ts';
import { type Begun, beginSession } from '../../begin.ts';
import type { Arrival } from '../../pending.ts';

/**
 * Lets the person in. A person without an account gets one (spec §5.4). They join their domain's
 * organization if that lets its people sign up by themselves. Call it inside the sign-in's
 * transaction.
 */
export async function enterBySocial(
  ctx: Context,
  { state, person }: Arrival & { by: 'social' },
  secondFactor: SecondFactor | null,
): Promise<Begun> {
  const provider = socialProviders.find((one) => one === state.connection);
  if (provider === undefined) throw new Error(`no social provider ${state.connection}`);
  // The account that is linked may have been shut out during the request to the provider.
  if (state.linkTo !== undefined) await holdAccount(ctx, state.linkTo);
  const attached = await attachSocial(ctx, { ...person, provider }, state.linkTo);
  if (attached === null) throw signInFailed('identity_conflict');
  const provenEmail = person.proven ? person.email : null;
  const begun = await beginSession(ctx, attached.account, {
    method: provider,
    provenEmail,
    secondFactor,
  });
  if ('session' in begun && attached.created)
    await joinByDomain(ctx, attached.account, { kind: 'social', by: provider });
  return begun;
}
