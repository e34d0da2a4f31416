import type { Context } from '../../../../context.ts';
import { transaction } from '../../../../database/transaction.ts';
import { retryOnceWhenOvertaken } from '../../../../database/unique.ts';
import { holdAccount } from '../../../people/accounts/hold.ts';
import { signInFailed } from '../../../people/sessions/failed.ts';
import type { SecondFactor } from '../../../people/two-factor/answer.ts';
import { attachSocial } from '../../../tenancy/identities/attach.ts';
import { socialProviders } from '../../../tenancy/identities/providers.ts';
import { joinByDomain } from '../../../tenancy/signin-settings/join-by-domain.ts';
import { beginSession } from '../../begin.ts';
import type { FlowState } from '../../redirect/state.ts';
import type { SocialPerson } from './person.ts';

/**
 * Lets the proven person in: account and session in one transaction. Whoever has no account gets one (spec §5.4), and
 * joins the organization of their domain where that lets its people sign up by themselves. `secondFactor` is what
 * was answered, or null.
 */
export function admitSocial(
  ctx: Context,
  state: FlowState,
  person: SocialPerson,
  secondFactor: SecondFactor | null,
) {
  const provider = socialProviders.find((one) => one === state.connection);
  if (provider === undefined) throw new Error(`no social provider ${state.connection}`);
  return retryOnceWhenOvertaken(() =>
    transaction(async () => {
      // Whoever links may have been shut out while the provider was asked.
      if (state.linkTo !== undefined) await holdAccount(ctx, state.linkTo);
      const attached = await attachSocial(ctx, { ...person, provider }, state.linkTo);
      if (attached === null) throw signInFailed('identity_conflict');
      const provenEmail = person.proven ? person.email : null;
      const via = { method: provider, provenEmail, secondFactor };
      const session = await beginSession(ctx, attached.account, via);
      if (attached.created) await joinByDomain(ctx, attached.account, { kind: 'social', by: provider });
      return session;
    }),
  );
}
