import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isLoopback } from '../../../address.ts';
import type { Context } from '../../../context.ts';
import { isEqual, randomToken } from '../../../crypto/secret.ts';
import { openState, signState } from '../../../crypto/signed.ts';
import { Refusal } from '../../../errors.ts';
import type { AuthorizationResponse } from '../../../outbound/outbound.ts';
import { domain } from '../../foundation/fields.ts';
import { after } from '../../foundation/time.ts';
import { signInFailed } from '../../people/sessions/schema.ts';

// The input of both steps of a sign-in by redirect (RFC 6749 §4.1, RFC 9207).

/** The fields of the first step. */
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

const flowCookie = /^[A-Za-z0-9_-]{43}$/;

/**
 * Begins a sign-in by redirect: a fresh state with its secrets, and the flow cookie that binds it
 * to this browser. A browser keeps the cookie it has, so that two tabs do not disturb each other.
 */
export function beginFlow(
  ctx: Context,
  kind: Flow,
  what: Omit<FlowState, 'id' | 'browser' | 'expires'>,
  given: string | undefined,
) {
  const flow = given !== undefined && flowCookie.test(given) ? given : randomToken(256);
  const id = randomToken(256);
  const expires = Math.ceil(after(ctx.now, stateSeconds).getTime() / 1000);
  const browser = browserProof(ctx, id, flow);
  const payload: FlowState = { ...what, id, browser, expires };
  const state = signState(ctx.keyring.derive(`${kind}-state`), payload);
  const cookie = { flow, flowExpiresIn: stateSeconds };
  return { request: { state, ...secretsOf(ctx, id) }, cookie };
}

// The state of a sign-in travels signed in the URL and is stored only once it comes back. So
// starting a sign-in costs no write. PKCE verifier and nonce are derived from its id (security S2).

/** How long a state is valid, in seconds (spec §8). */
export const stateSeconds = 600;

/** The kinds of sign-in by redirect. A state of one kind is invalid for the other. */
export type Flow = 'sso' | 'social';

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
  /** Proof of the browser's flow cookie. */
  browser: z.string(),
  /** Seconds since 1970. */
  expires: z.int(),
});

/** The data that a sign-in keeps between its start and its callback. */
export type FlowState = z.output<typeof stateFields>;

/** The parts of a callback that are the same for every provider. */
export interface Returned {
  state?: string | undefined;
  code?: string | undefined;
  /** The flow cookie. */
  flow?: string | undefined;
  fromBrowser: boolean;
}

/**
 * Reads a state that we signed for this kind of sign-in in the last ten minutes, in this browser.
 * Refuses `signin_failed` (security S2, S3).
 */
export function requireState(ctx: Context, kind: Flow, returned: Returned): FlowState {
  const text = openState(ctx.keyring.derive(`${kind}-state`), returned.state ?? '');
  const state = stateFields.safeParse(text).data;
  if (state === undefined || ctx.now.getTime() >= state.expires * 1000)
    throw signInFailed('state_invalid');
  if (bindsBrowser(ctx, returned.fromBrowser) && !isSameBrowser(ctx, state, returned.flow))
    throw signInFailed('other_browser');
  return state;
}

/** Whether the flow cookie is required: of browsers, and of every client on plain http. */
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

/** The proof of the flow cookie that the state keeps. */
function browserProof(ctx: Context, stateId: string, flow: string): string {
  return createHmac('sha256', ctx.keyring.derive('sso-browser'))
    .update(`${stateId}|${flow}`)
    .digest('base64url');
}

/** Whether the flow cookie is the one that the state was bound to (security S3). */
function isSameBrowser(ctx: Context, state: FlowState, flow: string | undefined): boolean {
  return flow !== undefined && isEqual(browserProof(ctx, state.id, flow), state.browser);
}

/** Redeems the returned code. If the provider refuses it, refuses `signin_failed`. */
export async function redeemCode<Proved>(
  ctx: Context,
  { id }: FlowState,
  { code = '', state = '', iss }: z.output<typeof callbackInput>,
  redeem: (response: AuthorizationResponse) => Promise<Proved>,
): Promise<Proved> {
  const query = { code, state, ...(iss === undefined ? {} : { iss }) };
  return redeem({ query, state, ...secretsOf(ctx, id) }).catch((error: unknown) => {
    const refused = error instanceof Refusal && error.code === 'provider_refused';
    throw refused ? signInFailed('provider_refused', error) : error;
  });
}

/** How a provider failed: for the log and the event, never for the person. */
export interface ProviderFailure {
  stage: string;
  reason: string;
  message: string;
}

/**
 * Records a provider that could not be used, with `record`, once for each connection or provider
 * (`of`). Returns the error that the person sees: only admins learn where the provider is and why
 * it failed (security S8).
 */
export async function reportFailure(
  error: unknown,
  of: string,
  words: { message: string; hint: string },
  record: (failure: ProviderFailure) => Promise<void>,
): Promise<unknown> {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') return error;
  const { message, code, extra } = error;
  const stage = String(extra['stage'] ?? 'discovery');
  const reason = String(extra['reason'] ?? code);
  await recordOnce(error, of, () => record({ stage, reason, message }));
  return new Refusal('provider_failed', words.message, { hint: words.hint, cause: error });
}

const recorded = new WeakMap<Refusal, Set<string>>();

/**
 * A cached failure is shown to any number of strangers for some seconds, so repeating it must cost
 * no write (security X5).
 */
async function recordOnce(failure: Refusal, of: string, record: () => Promise<void>) {
  const done = recorded.get(failure) ?? new Set();
  recorded.set(failure, done);
  if (!done.has(of)) await record();
  done.add(of);
}
