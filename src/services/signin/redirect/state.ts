import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import type { connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { randomToken } from '../../../crypto/secret.ts';
import { openState, signState } from '../../../crypto/signed.ts';
import { SpentState } from '../../../database/models/spent-state.ts';
import { transaction } from '../../../database/transaction.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { Refusal } from '../../../errors.ts';
import type { AuthorizationResponse } from '../../../outbound/outbound.ts';
import { isLoopback, networkOf } from '../../../text/address.ts';
import { domain } from '../../foundation/fields.ts';
import { type Places, placesFor } from '../../foundation/limits/places.ts';
import { after } from '../../foundation/time.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { flowOf, isSameBrowser, proofOfBrowser, stateSeconds } from './browser.ts';

// The input of both steps of a sign-in by redirect (RFC 6749 §4.1, RFC 9207).

/** The fields that start a sign-in by redirect. */
export const startFields = {
  returnTo: z.string().max(2000).optional(),
  flow: z.string().max(200).optional(),
};

/** The URL that the person is sent to. */
export const startView = z.object({ authorizationUrl: z.string() });

/** The parameters that the person brings back, the flow cookie, and whether a browser sent them. */
export const callbackInput = z.strictObject({
  state: z.string().max(4096).optional(),
  code: z.string().max(4096).optional(),
  iss: z.string().max(2000).optional(),
  error: z.string().max(200).optional(),
  flow: z.string().max(200).optional(),
  fromBrowser: z.boolean(),
});

export const startSsoInput = z.strictObject({ domain, ...startFields });

/**
 * Begins a sign-in by redirect: a fresh state with its secrets, and the flow cookie that binds it
 * to this browser.
 */
export function beginFlow(
  ctx: Context,
  kind: Flow,
  what: Omit<FlowState, 'id' | 'browser' | 'expires'>,
  given: string | undefined,
) {
  const flow = flowOf(given);
  const id = randomToken(256);
  const expires = Math.ceil(after(ctx.now, stateSeconds).getTime() / 1000);
  const browser = proofOfBrowser(ctx, id, flow);
  const payload: FlowState = { ...what, id, browser, expires };
  const state = signState(ctx.keyring.derive(`${kind}-state`), payload);
  const cookie = { flow, flowExpiresIn: stateSeconds };
  return { request: { state, ...secretsOf(ctx, id) }, cookie };
}

// The state of a sign-in travels signed in the URL and is stored only once it comes back. So
// starting a sign-in does not cost a write. PKCE verifier and nonce are derived from its id
// (security S2).

/** The kinds of sign-in by redirect. A state of one kind is invalid for the other. */
export type Flow = typeof connectionKinds.sso.name | 'social';

const stateFields = z.strictObject({
  id: z.string(),
  /** The connection, or the name of the social provider. */
  connection: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  returnTo: z.string(),
  /** The account to link, if the sign-in is for linking. */
  linkTo: z.string().optional(),
  /** Whether the session that links has the mark `unapproved` (security I8). */
  unapproved: z.boolean().optional(),
  /** What has verified the answer, if the sign-in goes on with a verified one (security I8). */
  verifiedBy: z.string().optional(),
  /** Proof of the browser's flow cookie. */
  browser: z.string(),
  /** Seconds since 1970. */
  expires: z.int(),
});

/** The data that a sign-in keeps between its start and its callback. */
export type FlowState = z.output<typeof stateFields>;

type Returned = z.output<typeof callbackInput>;

/**
 * Reads a state that we signed for this kind of sign-in in the last ten minutes, in this browser.
 * Refuses with `signin_failed` (security S2, S3).
 */
function requireState(ctx: Context, kind: Flow, returned: Returned): FlowState {
  const text = openState(ctx.keyring.derive(`${kind}-state`), returned.state ?? '');
  const state = stateFields.safeParse(text).data;
  if (state === undefined || ctx.now.getTime() >= state.expires * 1000)
    throw signInFailed('state_invalid');
  if (
    bindsBrowser(ctx, returned.fromBrowser) &&
    !isSameBrowser(ctx, state.id, state.browser, returned.flow)
  )
    throw signInFailed('other_browser');
  return state;
}

/**
 * Whether the flow cookie is required. A browser must send it. If `baseUrl` is plain http on a host
 * other than loopback, every client must.
 */
function bindsBrowser(ctx: Context, fromBrowser: boolean): boolean {
  const { protocol, hostname } = new URL(ctx.config.baseUrl);
  return fromBrowser || (protocol === 'http:' && !isLoopback(hostname));
}

/** The PKCE verifier and the nonce of a state. Deriving them from its id needs the master key. */
function secretsOf(ctx: Context, stateId: string): { codeVerifier: string; nonce: string } {
  const make = (purpose: string) =>
    createHmac('sha256', ctx.keyring.derive(purpose)).update(stateId).digest('base64url');
  return { codeVerifier: make('sso-code-verifier'), nonce: make('sso-nonce') };
}

/** A state that was accepted. */
export interface Accepted {
  state: FlowState;
  /** Redeems the returned code; `ask` sends it to the provider. Refuses with `signin_failed`. */
  redeem<Proved>(ask: (response: AuthorizationResponse) => Promise<Proved>): Promise<Proved>;
}

/**
 * Runs `work` with the state if we created it, for this browser, and it is unexpired and unused.
 * Spends the state (security S2, S3) and binds the returned code to its provider (security S5). If
 * too many callbacks are waiting, refuses with `overloaded`, and the state stays unused (security
 * S9).
 */
export async function acceptState<T>(
  ctx: Context,
  kind: Flow,
  returned: Returned,
  work: (accepted: Accepted) => Promise<T>,
): Promise<T> {
  const state = requireState(ctx, kind, returned);
  const places = callbackPlaces(ctx, state.connection);
  try {
    await spend({ id: state.id, expiresAt: new Date(state.expires * 1000) }, places);
    const { code } = returned;
    const claimed = code === undefined || (await transaction(() => claimCode(ctx, state, code)));
    if (!claimed) throw signInFailed('code_of_another_provider');
    return await work({ state, redeem: (ask) => redeemCode(ctx, state, returned, ask) });
  } finally {
    places.leave();
  }
}

/** Spends a start once, and takes its places. Refuses with `signin_failed` (security S2). */
export async function spend(row: { id: string; expiresAt: Date }, places: Places): Promise<void> {
  const spending = transaction(async () => {
    const message = 'This sign-in has already been completed.';
    await refusingDuplicate(SpentState.create(row), { message });
    // The places are taken last, so that a refusal rolls back the use of the state.
    places.take();
  });
  await spending.catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'already_exists'
      ? signInFailed('state_replayed')
      : error;
  });
}

async function redeemCode<Proved>(
  ctx: Context,
  { id }: FlowState,
  { code = '', state = '', iss }: Returned,
  ask: (response: AuthorizationResponse) => Promise<Proved>,
): Promise<Proved> {
  const query = { code, state, ...(iss === undefined ? {} : { iss }) };
  return ask({ query, state, ...secretsOf(ctx, id) }).catch((error: unknown) => {
    const refused = error instanceof Refusal && error.code === 'provider_refused';
    throw refused ? signInFailed('provider_refused', error) : error;
  });
}

// RFC 6749 §10.10 requires codes of 128 bits. A shorter code is not a secret, and may repeat.
const shortest = 22;

/**
 * Claims the code for the provider it is about to be sent to; returns false if another provider
 * already got it. A dishonest provider can send people to an honest provider, and get their codes.
 * An attacker could use such a code in a sign-in through the honest provider (RFC 9700 §4.4,
 * security S5). Call it in a transaction of its own, before the network request.
 */
async function claimCode(ctx: Context, { issuer }: FlowState, code: string): Promise<boolean> {
  if (code.length < shortest) return true;
  const used = `code ${digest(code)}`;
  const usedHere = `${used} ${digest(issuer)}`;
  const found = await SpentState.findAll({ where: { id: [used, usedHere] } });
  if (found.length > 0) return found.some(({ id }) => id === usedHere);
  const expiresAt = after(ctx.now, stateSeconds);
  const rows = [used, usedHere].map((id) => ({ id, expiresAt }));
  await SpentState.bulkCreate(rows, { ignoreDuplicates: true });
  return true;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** How many callbacks may wait for a provider at the same time in one process (security S9). */
const maxWaiting = { client: 10, connection: 50 };

/** The places of a callback: one for the client, one for the connection or social provider. */
export function callbackPlaces(ctx: Context, connection: string): Places {
  const wanted: [string, number][] = [
    [`client ${networkOf(ctx.client.address)}`, maxWaiting.client],
    [`connection ${connection}`, maxWaiting.connection],
  ];
  return placesFor(ctx, wanted, tooMany);
}

function tooMany(): Refusal {
  return new Refusal('overloaded', 'Too many sign-ins are waiting for this provider.', {
    hint: 'Reload this page in a few seconds to finish your sign-in.',
    retryAfter: 5,
  });
}
