import type { Context } from '../../context.ts';
import { Session } from '../../database/models/session.ts';
import { transaction } from '../../database/transaction.ts';
import { retryOnceOnDuplicate } from '../../database/unique.ts';
import { attachSocial } from '../identities/attach.ts';
import type { FlowState } from '../redirect/state.ts';
import { beginSession } from '../sessions/begin.ts';
import { signInFailed } from '../sessions/failed.ts';
import { joinByDomain } from '../signin/join-by-domain.ts';
import type { SocialPerson } from './person.ts';
import { socialProviders } from './providers.ts';

/**
 * Lets the proven person in: account and session in one transaction. Whoever has no account gets one (spec §5.4), and
 * joins the organization of their domain where that lets its people sign up by themselves. `secondFactor` is the step
 * that was answered, or null.
 */
export function admitSocial(
  ctx: Context,
  state: FlowState,
  person: SocialPerson,
  secondFactor: number | null,
) {
  const provider = socialProviders.find((one) => one === state.connection);
  if (provider === undefined) throw new Error(`no social provider ${state.connection}`);
  return retryOnceOnDuplicate(() =>
    transaction(async () => {
      const attached = await attachSocial(ctx, { ...person, provider }, state.linkTo);
      if (attached === null) throw signInFailed('identity_conflict');
      if (state.linkTo !== undefined) await requireStillSignedIn(ctx);
      const session = await beginSession(ctx, attached.account, { method: provider, secondFactor });
      if (attached.created) await joinByDomain(ctx, attached.account, { kind: 'social', by: provider });
      return session;
    }),
  );
}

/**
 * Refuses when the session of whoever links has ended while the provider was asked: the account may be another person's
 * by now (security I3). Looked at after the account.
 */
async function requireStillSignedIn({ actor }: Context): Promise<void> {
  if (actor.kind !== 'user' || actor.via !== 'session') return;
  const live = await Session.count({ where: { id: actor.sessionId, endedAt: null } });
  if (live === 0) throw signInFailed('other_person');
}
