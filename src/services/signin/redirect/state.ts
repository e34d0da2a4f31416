import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { isEqual, randomToken } from '../../../crypto/secret.ts';
import { openState, signState } from '../../../crypto/signed.ts';

// The state of a sign-in travels signed in the URL and is stored only once it comes back. So
// starting a sign-in costs no write. Code verifier and nonce follow from its id (security S2).

/** How long a state is valid, in seconds (spec §8). */
export const stateSeconds = 600;

/** The kinds of sign-in by redirect; a state of one is invalid for the other. */
export type Flow = 'sso' | 'social';

const payload = z.strictObject({
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
export type FlowState = z.output<typeof payload>;

/** Makes a state id of 256 random bits. */
export function newStateId(): string {
  return randomToken(256);
}

/** Signs the state as the provider carries it. */
export function sealState(ctx: Context, flow: Flow, state: FlowState): string {
  return signState(ctx.keyring.derive(`${flow}-state`), state);
}

/**
 * Reads a state that this instance signed for such a sign-in at most ten minutes ago, or returns
 * null.
 */
export function readState(ctx: Context, flow: Flow, text: string): FlowState | null {
  const state =
    payload.safeParse(openState(ctx.keyring.derive(`${flow}-state`), text)).data ?? null;
  return state !== null && ctx.now.getTime() < state.expires * 1000 ? state : null;
}

/** The PKCE verifier and the nonce of a state; only the master key can derive them from its id. */
export function secretsOf(ctx: Context, stateId: string): { codeVerifier: string; nonce: string } {
  const make = (purpose: string) =>
    createHmac('sha256', ctx.keyring.derive(purpose)).update(stateId).digest('base64url');
  return { codeVerifier: make('sso-code-verifier'), nonce: make('sso-nonce') };
}

/** The proof of the flow cookie that the state keeps. */
export function browserProof(ctx: Context, stateId: string, flow: string): string {
  return createHmac('sha256', ctx.keyring.derive('sso-browser'))
    .update(`${stateId}|${flow}`)
    .digest('base64url');
}

/** Whether the flow cookie is the one that the state was bound to (security S3). */
export function isSameBrowser(ctx: Context, state: FlowState, flow: string | undefined): boolean {
  return flow !== undefined && isEqual(browserProof(ctx, state.id, flow), state.browser);
}
