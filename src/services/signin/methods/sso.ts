import type { z } from 'zod';
import { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { syncGroups } from '../../provisioning/mappings/reconcile.ts';
import { isApproved } from '../../tenancy/connections/approval.ts';
import { ownerRefused, requireApprovedForOwner } from '../../tenancy/connections/owners.ts';
import { aboutSso, openClientSecret, redirectUriOf } from '../../tenancy/connections/sso.ts';
import { findUsable } from '../../tenancy/connections/usable.ts';
import { attachIdentity } from '../../tenancy/identities/attach.ts';
import { ensureMember } from '../../tenancy/memberships/join-and-leave.ts';
import { personOn, readProof, type Said } from '../../tenancy/sso/claims.ts';
import { asksOwnSecondFactor, requireSameConnection } from '../../tenancy/sso/connection.ts';
import { keepSsoAttempt } from '../attempts.ts';
import { type Begun, beginSession } from '../begin.ts';
import { type Entering, method } from '../method.ts';
import {
  type Accepted,
  acceptState,
  beginFlow,
  type callbackInput,
  type FlowState,
  type startSsoInput,
} from '../redirect/state.ts';
import { isRefusalOfPerson, type ProviderFailure, reportFailure } from '../refused.ts';
import { requireReturnTo } from '../return-to.ts';

const { sso } = connectionKinds;

/** Starts single sign-on (spec §4.1). Returns the provider's URL, and the browser's flow cookie. */
export async function startSso(ctx: Context, input: z.output<typeof startSsoInput>) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  const connection = await findUsable(ctx, input.domain);
  if (connection === null) {
    throw new Refusal('sso_not_configured', `No single sign-on is set up for ${input.domain}.`, {
      hint: 'Sign in another way, or ask your administrator.',
    });
  }
  const { issuer, clientId } = connection;
  const redirectUri = redirectUriOf(ctx, connection);
  const flow = { connection: connection.id, issuer, clientId, redirectUri, returnTo };
  const { request, cookie } = beginFlow(ctx, sso.name, flow, input.flow);
  const client = { issuer, clientId, redirectUri };
  const authorizationUrl = ctx.outbound
    .authorizationUrl(client, request)
    .catch(async (error: unknown) => {
      throw await reportConnection(ctx, connection.id, error);
    });
  return { authorizationUrl: await authorizationUrl, ...cookie };
}

interface BySso {
  input: z.output<typeof callbackInput>;
  at: Accepted;
  seen: SsoConnection;
  proof: Proof;
}

interface Proof {
  state: FlowState;
  said: Said;
}

/**
 * Single sign-on, from the callback on (spec §4.1 steps 3 to 6). Before the provider is asked,
 * `acceptState` accepts the state once, claims the code, and limits how many callbacks wait.
 */
export const bySso = method<BySso>({
  name: sso.name,
  offered: (ctx, input, signIn) => acceptState(ctx, sso.name, input, signIn),
  look: async (ctx, { input, at: { state } }) => {
    const connection = await requireSameConnection(ctx, state);
    // The provider sent the person back with an error, or without a code.
    if (input.code === undefined || input.error !== undefined)
      throw signInFailed('refused_by_provider');
    return connection;
  },
  prove: async (ctx, { seen, at }) => {
    const said = await proveBySso(ctx, seen, at);
    return { proof: { state: at.state, said } };
  },
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
});

/** Redeems the code for the provider's claims (spec §4.1 step 4). Refuses with `signin_failed`. */
async function proveBySso(
  ctx: Context,
  connection: SsoConnection,
  { state, redeem }: Accepted,
): Promise<Said> {
  const { issuer, clientId, groupsClaim } = connection;
  const clientSecret = openClientSecret(ctx, connection);
  const client = { issuer, clientId, redirectUri: state.redirectUri, clientSecret };
  const proof = await redeem((response) => ctx.outbound.redeem(client, response));
  return readProof(proof, groupsClaim);
}

/** Records a refused sign-in: one event per connection and reason in 15 minutes (security X5). */
async function recordRefusedBySso(
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
    server: null,
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
function reportConnection(ctx: Context, connectionId: string, error: unknown) {
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
