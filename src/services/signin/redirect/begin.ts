import type { Context } from '../../../context.ts';
import { randomToken } from '../../../crypto/secret.ts';
import { after } from '../../foundation/time.ts';
import {
  browserProof,
  type Flow,
  type FlowState,
  newStateId,
  sealState,
  secretsOf,
  stateSeconds,
} from './state.ts';

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
  const id = newStateId();
  const expires = Math.ceil(after(ctx.now, stateSeconds).getTime() / 1000);
  const state = sealState(ctx, kind, {
    ...what,
    id,
    browser: browserProof(ctx, id, flow),
    expires,
  });
  return {
    request: { state, ...secretsOf(ctx, id) },
    cookie: { flow, flowExpiresIn: stateSeconds },
  };
}
