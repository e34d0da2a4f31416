import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hashOfToken } from '../../../crypto/secret.ts';
import { SamlAnswer } from '../../../database/models/saml-answer.ts';
import { SpentState } from '../../../database/models/spent-state.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import type { SamlProof, SamlSending } from '../../../outbound/saml/saml.ts';
import { ref } from '../../foundation/fields.ts';
import { samlDecryptionKeys, samlSigner } from '../../foundation/keys/saml-key.ts';
import { turnKeyOf } from '../../foundation/limits/turns.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { redirectUriOf } from '../../tenancy/connections/sso.ts';
import { readAttributes } from '../../tenancy/sso/attributes.ts';
import type { Said } from '../../tenancy/sso/claims.ts';
import {
  requireMetadata,
  requireSameConnection,
  whatVerifies,
} from '../../tenancy/sso/connection.ts';
import { ourSaml, requireSamlParty } from '../../tenancy/sso/our-party.ts';
import { keepFailedAttempt } from '../attempts.ts';
import { method } from '../method.ts';
import {
  beginSamlFlow,
  requireStart,
  returnToIn,
  type SamlStart,
} from '../redirect/saml-request.ts';
import { callbackPlaces, type FlowState, spend } from '../redirect/state.ts';
import { isRefusalOfPerson } from '../refused.ts';
import {
  recordRefusedBySso,
  reportConnection,
  type ThroughConnection,
  throughConnection,
} from './through-connection.ts';

// A sign-in by SAML has three steps: the request, the answer that the provider lets the browser post
// (a cross-site request, without cookies), and the browser that comes for the answer with its cookie.

/** Sends the browser to the SAML provider of the connection. */
export async function startSaml(
  ctx: Context,
  connection: SsoConnection,
  given: { flow: string | undefined; returnTo: string },
) {
  const { id, relayState, cookie } = beginSamlFlow(ctx, connection, given);
  const sending = await requestOf(ctx, connection, { id, relayState });
  if ('location' in sending) return { authorizationUrl: sending.location, ...cookie };
  const { organizationId: org } = connection;
  const query = new URLSearchParams({ org, request: id, ...(relayState && { relayState }) });
  return { authorizationUrl: `${ctx.config.baseUrl}${samlFormPath}?${query}`, ...cookie };
}

/** The page with the form, for a provider that takes requests only by HTTP-POST. */
export const samlFormPath = '/login/saml';

export const samlFormInput = z.strictObject({
  org: ref,
  request: z.string().max(200),
  relayState: z.string().max(4096).default(''),
});

/** The form that brings a request to a provider by HTTP-POST. */
export async function findSamlForm(ctx: Context, input: z.output<typeof samlFormInput>) {
  const connection = await findSaml(input.org);
  const { id } = requireStart(ctx, connection, input.request);
  const sending = await requestOf(ctx, connection, { id, relayState: input.relayState });
  if ('location' in sending) throw signInFailed('connection_changed');
  return sending.form;
}

async function requestOf(
  ctx: Context,
  connection: SsoConnection,
  request: { id: string; relayState: string },
): Promise<SamlSending> {
  const { ssoUrl, binding, wantsSignedRequests } = requireMetadata(connection);
  const signer = wantsSignedRequests ? await samlSigner(ctx) : null;
  const target = { ...ourSaml(ctx, connection.organizationId), ssoUrl, binding, signer };
  return ctx.outbound.saml.request(target, { ...request, now: ctx.now });
}

/** What the provider lets the browser post. */
export const samlAnswerInput = z.strictObject({
  org: ref,
  SAMLResponse: z
    .string()
    .max(512 * 1024)
    .optional(),
  RelayState: z.string().max(4096).optional(),
});

/**
 * Takes the answer of a SAML provider. Verifies it, and keeps its claims for the browser that began
 * the sign-in. Refuses with `signin_failed` (security S11).
 */
export async function takeSamlAnswer(ctx: Context, input: z.output<typeof samlAnswerInput>) {
  const { SAMLResponse: response = '', RelayState: relayState } = input;
  const connection = await findSaml(input.org);
  const start = requireStart(ctx, connection, await requestIn(ctx, response));
  const places = callbackPlaces(ctx, connection.id);
  try {
    await spend(start, places);
    const returnTo = returnToIn(ctx, start.id, relayState);
    await recordingFailure(ctx, connection, async (learn) => {
      const proof = await verify(ctx, connection, { response, requestId: start.id });
      const said = readAttributes(proof, connection);
      learn(said);
      const verifiedBy = whatVerifies(ctx, connection);
      await keepAnswer(connection, { start, proof, kept: { said, returnTo, verifiedBy } });
    });
  } finally {
    places.leave();
  }
  const query = new URLSearchParams({ request: start.id });
  return { continueAt: `/auth/saml/${connection.organizationId}/continue?${query}` };
}

async function findSaml(org: string): Promise<SsoConnection> {
  const { id: organizationId } = await requireSamlParty(org);
  const where = { organizationId, kind: 'saml' as const, enabled: true };
  const connection = await SsoConnection.findOne({ where });
  if (connection === null) throw signInFailed('connection_changed');
  return connection;
}

async function verify(
  ctx: Context,
  connection: SsoConnection,
  { response, requestId }: { response: string; requestId: string },
): Promise<SamlProof> {
  const { certificates } = requireMetadata(connection);
  const { issuer: entityId, organizationId, subjectAttribute, encryptAssertions } = connection;
  const expected = {
    tenant: turnKeyOf(await requireSamlParty(organizationId)),
    provider: { entityId, certificates: certificates.map(({ pem }) => pem) },
    ...ourSaml(ctx, organizationId),
    subjectAttribute,
    decryptionKeys: encryptAssertions ? await samlDecryptionKeys(ctx) : [],
  };
  return ctx.outbound.saml.verify(expected, response, { requestId, now: ctx.now }).catch(refuse);
}

function requestIn({ outbound }: Context, response: string): Promise<string | null> {
  return outbound.saml.inResponseTo(response).catch(refuse);
}

function refuse(error: unknown): never {
  const refused = error instanceof Refusal && error.code === 'provider_refused';
  throw refused ? signInFailed('provider_refused', error) : error;
}

/** What the browser comes for. */
interface Kept {
  said: Said;
  returnTo: string;
  /** The connection may change until the browser comes (security I8). */
  verifiedBy: string;
}

/** Keeps the claims. An assertion proves only once, until it ends. */
async function keepAnswer(
  { id: connectionId }: SsoConnection,
  { start, proof, kept }: { start: SamlStart; proof: SamlProof; kept: Kept },
): Promise<void> {
  const { assertionId, assertionEndsAt } = proof;
  const digest = createHash('sha256').update(`${connectionId} ${assertionId}`).digest('base64url');
  const spent = { id: `assertion ${digest}`, expiresAt: assertionEndsAt };
  const { expiresAt } = start;
  await transaction(async () => {
    await refusingDuplicate(SpentState.create(spent), { message: 'The assertion was used.' });
    await SamlAnswer.create({ id: hashOfToken(start.id), connectionId, payload: kept, expiresAt });
  }).catch((error: unknown) => {
    const isReplay = error instanceof Refusal && error.code === 'already_exists';
    throw isReplay ? signInFailed('answer_replayed') : error;
  });
}

/** Records the refusal of an answer, as that of a sign-in. Returns what `work` returns. */
async function recordingFailure(
  ctx: Context,
  connection: SsoConnection,
  work: (learn: (said: Said) => void) => Promise<void>,
): Promise<void> {
  let said: Said | undefined;
  try {
    await work((learned) => {
      said = learned;
    });
  } catch (error) {
    await keepFailedAttempt(ctx, connection.id, error, said);
    if (isRefusalOfPerson(error)) await recordRefusedBySso(ctx, connection, error);
    throw await reportConnection(ctx, connection.id, error);
  }
}

/** The request that was answered, and the flow cookie of the browser. */
export const continueInput = z.strictObject({
  org: ref,
  request: z.string().max(200).optional(),
  flow: z.string().max(200).optional(),
});

/** Single sign-on by SAML, from the moment the browser comes for the verified answer. */
export const bySaml = method<
  ThroughConnection<z.output<typeof continueInput>, { state: FlowState; said: Said }>
>({
  ...throughConnection,
  offered: async (ctx, { org, request = null, flow }, signIn) => {
    const connection = await findSaml(org);
    const start = requireStart(ctx, connection, request);
    if (!start.isSameBrowser(flow)) throw signInFailed('other_browser');
    const { said, ...kept } = await takeKept(start);
    return signIn({ state: stateOf(ctx, connection, start, kept), said });
  },
  look: (ctx, { at: { state } }) => requireSameConnection(ctx, state),
  prove: async (_ctx, { at: { state, said } }) => ({ proof: { state, said } }),
});

/** Takes the answer once, even if several daemons are asked for it. */
async function takeKept(start: SamlStart): Promise<Kept> {
  const where = { id: hashOfToken(start.id) };
  const row = await SamlAnswer.findOne({ where });
  const taken = row === null ? 0 : await transaction(() => SamlAnswer.destroy({ where }));
  if (row === null || taken === 0) throw signInFailed('state_replayed');
  // Only `keepAnswer` writes these rows.
  return row.payload as Kept;
}

function stateOf(
  ctx: Context,
  { id: connection, issuer, clientId }: SsoConnection,
  { id, expiresAt }: SamlStart,
  kept: Omit<Kept, 'said'>,
): FlowState {
  const redirectUri = redirectUriOf(ctx, { redirectUri: null });
  const expires = Math.floor(expiresAt.getTime() / 1000);
  return { id, connection, issuer, clientId, redirectUri, ...kept, browser: '', expires };
}
