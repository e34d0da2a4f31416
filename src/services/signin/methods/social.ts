import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { transaction } from '../../../database/transaction.ts';
import type { SocialWord } from '../../../outbound/outbound.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import { canonicalEmail, domainOf } from '../../foundation/domain-names/canonical.ts';
import { tallyEvent } from '../../foundation/events/record.ts';
import { name as nameField } from '../../foundation/fields.ts';
import { holdAccount } from '../../people/accounts/account.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { marksOf } from '../../people/tokens/token.ts';
import { requireRecentSignIn } from '../../people/two-factor/recent.ts';
import { requireApprovedForOwner } from '../../tenancy/connections/owners.ts';
import { attachSocial } from '../../tenancy/identities/attach.ts';
import {
  findSocialClient,
  providerNames,
  requireSocialClient,
  type SocialProvider,
  socialProviders,
} from '../../tenancy/identities/social-providers.ts';
import { joinByDomain } from '../../tenancy/signin-settings/methods.ts';
import { answersFor } from '../../tenancy/sso/claims.ts';
import { type Begun, beginSession } from '../begin.ts';
import { type Entering, method } from '../method.ts';
import {
  type Accepted,
  acceptState,
  beginFlow,
  type callbackInput,
  type FlowState,
  startFields,
} from '../redirect/state.ts';
import { recordIfRefused, reportFailure } from '../refused.ts';
import { requireReturnTo } from '../return-to.ts';

export const startSocialInput = z.strictObject(startFields);

type Input = z.output<typeof startSocialInput>;

/** Starts a social sign-in. Returns the provider's URL, and the browser's flow cookie. */
export function startSocial(ctx: Context, provider: SocialProvider, input: Input) {
  return begin(ctx, provider, input, {});
}

/**
 * Starts to link a social account, with any address, to the signed-in person's account. A page of
 * another site cannot start this: the request is not a GET. The callback requires the same person
 * (security O5).
 */
export async function startLinking(ctx: Context, provider: SocialProvider, input: Input) {
  const { accountId } = requireUser(ctx, 'me.credentials');
  // Needed because the link lasts, and the callback begins a new session (security P16).
  await requireRecentSignIn(ctx, await Account.findByPk(accountId, { rejectOnEmpty: true }));
  const { unapproved } = await marksOf(ctx);
  return begin(ctx, provider, input, { linkTo: accountId, unapproved });
}

async function begin(
  ctx: Context,
  provider: SocialProvider,
  input: Input,
  link: { linkTo?: string; unapproved?: boolean },
) {
  const returnTo = requireReturnTo(ctx, input.returnTo);
  const { issuer, clientId, redirectUri } = requireSocialClient(ctx, provider);
  const what = { connection: provider, issuer, clientId, redirectUri, returnTo, ...link };
  const { request, cookie } = beginFlow(ctx, 'social', what, input.flow);
  const asking = ctx.outbound.socialUrl({ provider, issuer, clientId, redirectUri }, request);
  const authorizationUrl = await asking.catch(async (error: unknown) => {
    throw await reportProvider(ctx, provider, error);
  });
  return { authorizationUrl, ...cookie };
}

interface BySocial {
  input: { provider: SocialProvider; callback: Callback };
  at: { provider: SocialProvider; accepted: Accepted };
  seen: null;
  proof: Proof;
}

interface Proof {
  state: FlowState;
  person: SocialPerson;
}

type Callback = z.output<typeof callbackInput>;

/**
 * A social sign-in, or the linking of a social account, from the callback on (spec §5.4). Before
 * the provider is asked, `acceptState` accepts the state once and claims the code.
 */
export const bySocial = method<BySocial>({
  name: 'social',
  offered: (ctx, { provider, callback }, signIn) =>
    acceptState(ctx, 'social', callback, (accepted) => signIn({ provider, accepted })),
  look: async () => null,
  prove: async (ctx, { input, at: { provider, accepted } }) => {
    const person = await proveBySocial(ctx, provider, accepted, input.callback);
    return { proof: { state: accepted.state, person } };
  },
  secondFactor: { inTwoSteps: 'always' },
  enter: enterBySocial,
  returnTo: ({ state }) => state.returnTo,
  events: {
    refused: (ctx, { at: { provider } }, error) =>
      recordIfRefused(ctx, error, { method: provider, account: null }),
    failed: (ctx, { provider }, error) => reportProvider(ctx, provider, error),
  },
});

/**
 * Redeems the code for the person that the provider names (spec §5.4). Refuses with
 * `signin_failed`.
 */
async function proveBySocial(
  ctx: Context,
  provider: SocialProvider,
  { state, redeem }: Accepted,
  input: Callback,
): Promise<SocialPerson> {
  const client = requireSameClient(ctx, provider, state);
  requireSamePerson(ctx, state);
  if (input.code === undefined || input.error !== undefined)
    throw signInFailed('refused_by_provider');
  const word = await redeem((response) => ctx.outbound.redeemSocial(client, response));
  return requirePerson(word);
}

/** The client configured for the provider now, if the state was created for it (security S6). */
function requireSameClient(ctx: Context, provider: SocialProvider, state: FlowState) {
  const client = findSocialClient(ctx, provider);
  const same =
    state.connection === provider &&
    client?.issuer === state.issuer &&
    client.clientId === state.clientId;
  if (client === null || !same) throw signInFailed('connection_changed');
  return client;
}

/** Refuses unless the person who began to link is still signed in. */
function requireSamePerson({ actor }: Context, { linkTo }: FlowState): void {
  if (linkTo === undefined) return;
  const same = actor.kind === 'user' && actor.via === 'session' && actor.accountId === linkTo;
  if (!same) throw signInFailed('other_person');
}

/** A person whose address the provider has verified. */
interface SocialPerson {
  issuer: string;
  subject: string;
  /** The canonical address. */
  email: string;
  /** Whether the provider guarantees the address. If not, only a linked identity is accepted. */
  proven: boolean;
  name: string;
}

/** The person that the provider names, if it has verified their address (security O5). */
function requirePerson(word: SocialWord): SocialPerson {
  const { issuer, subject, email, emailVerified, name } = word;
  if (email === null) throw signInFailed('email_missing');
  if (!emailVerified) throw signInFailed('email_not_verified');
  const address = canonicalEmail(email);
  if (address === null) throw signInFailed('email_malformed');
  const called = nameField.safeParse(name).data ?? address.slice(0, address.indexOf('@'));
  return {
    issuer,
    subject,
    email: address,
    proven: answersFor(word, domainOf(address)),
    name: called,
  };
}

/**
 * Signs the person in. A person without an account gets one (spec §5.4), which joins the
 * organization of its domain if the settings allow self-signup. Call it inside the sign-in's
 * transaction.
 */
async function enterBySocial(
  ctx: Context,
  { state, person }: Proof,
  { secondFactor }: Pick<Entering, 'secondFactor'>,
): Promise<Begun> {
  const provider = socialProviders.find((one) => one === state.connection);
  if (provider === undefined) throw new Error(`no social provider ${state.connection}`);
  // During the request to the provider, the account or the caller's session may have ended.
  if (state.linkTo !== undefined) await holdAccount(ctx, state.linkTo);
  const { linkTo, unapproved = false } = state;
  const attached = await attachSocial(ctx, { ...person, provider }, linkTo, unapproved);
  if (attached === null) throw signInFailed('identity_conflict');
  // The session that began the link may have ended, because its account became owner.
  if (attached.unapproved) await requireApprovedForOwner({ approved: false }, attached.account.id);
  const provenEmail = person.proven ? person.email : null;
  const begun = await beginSession(ctx, attached.account, {
    method: provider,
    provenEmail,
    secondFactor,
    unapproved: attached.unapproved,
  });
  if ('session' in begun && attached.created)
    await joinByDomain(ctx, attached.account, { kind: 'social', by: provider });
  return begun;
}

/**
 * Records a provider that could not be used: one event per provider, stage and reason in 15 minutes
 * (security X5). Returns the error that the person sees.
 */
function reportProvider(ctx: Context, provider: SocialProvider, error: unknown) {
  const words = {
    message: `${providerNames[provider]} could not be used.`,
    hint: 'Try again later, or sign in another way.',
  };
  return reportFailure(error, provider, words, async (failure) => {
    const data = { provider, ...failure };
    const apart = `${failure.stage} ${failure.reason}`;
    const what = { kind: 'social.provider.failed' as const, data };
    await transaction(() => tallyEvent(ctx, what, { of: provider, apart }));
  });
}
