import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import type { Refusal } from '../../../errors.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { syncGroups } from '../../provisioning/mappings/reconcile.ts';
import { isApproved } from '../../tenancy/connections/approval.ts';
import { ownerRefused, requireApprovedForOwner } from '../../tenancy/connections/owners.ts';
import { aboutSso } from '../../tenancy/connections/sso.ts';
import { attachIdentity } from '../../tenancy/identities/attach.ts';
import { ensureMember } from '../../tenancy/memberships/join-and-leave.ts';
import { personOn, type Said } from '../../tenancy/sso/claims.ts';
import {
  asksOwnSecondFactor,
  keysOf,
  requireSameConnection,
} from '../../tenancy/sso/connection.ts';
import { keepSsoAttempt } from '../attempts.ts';
import { type Begun, beginSession } from '../begin.ts';
import type { Entering, Way } from '../method.ts';
import type { FlowState } from '../redirect/state.ts';
import { isRefusalOfPerson, type ProviderFailure, reportFailure } from '../refused.ts';

// What a sign-in has in common, whatever the protocol of the connection.

const { sso } = connectionKinds;

/** The types of a sign-in through a connection. */
export interface ThroughConnection<Input, At extends { state: FlowState }> {
  input: Input;
  at: At;
  seen: SsoConnection;
  proof: Proof;
}

/** How the person has proved who they are: the claims, and the state of the sign-in. */
interface Proof {
  state: FlowState;
  said: Said;
}

type Shared = Way<ThroughConnection<unknown, { state: FlowState }>>;

/** The steps after the proof, and what is recorded. */
export const throughConnection = {
  name: sso.name,
  secondFactor: { inTwoSteps: 'always' },
  enter: enterBySso,
  syncGroups: (ctx, { state, said }, accountId) =>
    syncGroups(ctx, state.connection, accountId, said.groups),
  returnTo: ({ state }) => state.returnTo,
  events: {
    refused: async (ctx, { seen }, error) => {
      if (isRefusalOfPerson(error)) await recordRefusedBySso(ctx, seen, error);
    },
    failed: (ctx, { state }, error) => reportConnection(ctx, state.connection, error),
    kept: (ctx, { state }, signIn) =>
      keepSsoAttempt(ctx, state.connection, (learn) => signIn(({ said }) => learn(said))),
  },
} satisfies Omit<Shared, 'offered' | 'look' | 'prove'>;

/** Records a refused sign-in: one event per connection and reason in 15 minutes (security X5). */
export async function recordRefusedBySso(
  ctx: Context,
  connection: SsoConnection,
  refusal: Refusal,
): Promise<void> {
  // If the provider refused, its own code says more.
  const reason = refusal.failure?.reason ?? refusal.reason ?? refusal.code;
  const kind = reason === ownerRefused ? 'sso.owner.refused' : 'sso.signin.refused';
  const what = { kind, ...aboutSso(connection), data: { reason } } as const;
  await transaction(() => tallyEvent(ctx, what, { of: connection.id, apart: reason }));
}

/** Signs the person in, after reading connection and domain again (security S6). */
async function enterBySso(
  ctx: Context,
  { state, said }: Proof,
  { secondFactor }: Pick<Entering, 'secondFactor'>,
): Promise<Begun> {
  const connection = await requireSameConnection(ctx, state);
  const { account, unapproved } = await attach(ctx, connection, said);
  // This locks the account before its memberships are read: it may be joining an organization now.
  await requireApprovedForOwner(connection, account.id);
  const asked = (await asksOwnSecondFactor(ctx, connection, account.id)) ? { secondFactor } : {};
  // `beginSession` comes first, because it refuses a removed person. `ensureMember` would make that
  // person a member again.
  const begun = await beginSession(ctx, account, {
    method: sso.name,
    connection,
    ...asked,
    unapproved,
  });
  if ('session' in begun)
    await ensureMember(ctx, connection.organizationId, account, {
      kind: sso.name,
      by: connection.id,
    });
  return begun;
}

async function attach(ctx: Context, connection: SsoConnection, said: Said) {
  const profile = personOn(connection, said);
  if (!profile.ok) throw signInFailed(profile.reason);
  // With `trust.domains: off`, the address can stand in for a missing subject (security I1).
  const subject = said.subject ?? (ctx.config.trust.domains === 'off' ? profile.email : null);
  if (subject === null) throw signInFailed('subject_missing');
  const { email, name } = profile;
  const attached = await attachIdentity(ctx, {
    kind: sso.name,
    connection,
    issuer: said.issuer,
    subject,
    ...keysOf(connection),
    email,
    name,
    unapproved: !isApproved(connection),
  });
  if (attached === null) throw signInFailed('identity_conflict');
  return attached;
}

/**
 * Records a provider that could not be used: one event per connection, stage and reason in 15
 * minutes (security X5). Returns the error that the person sees.
 */
export function reportConnection(ctx: Context, connectionId: string, error: unknown) {
  const words = {
    message: "The organization's identity provider could not be used.",
    hint: 'Try again later, or ask your administrator.',
  };
  return reportFailure(error, connectionId, words, (failure) =>
    recordFailed(ctx, connectionId, failure),
  );
}

async function recordFailed(
  ctx: Context,
  connectionId: string,
  failure: ProviderFailure,
): Promise<void> {
  await transaction(async () => {
    const connection = await SsoConnection.findByPk(connectionId);
    if (connection === null) return;
    const what = { kind: 'sso.provider.failed' as const, ...aboutSso(connection), data: failure };
    const apart = `${failure.stage} ${failure.reason}`;
    await tallyEvent(ctx, what, { of: connectionId, apart });
  });
}
