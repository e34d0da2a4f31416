import { createHmac } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { isEqual, randomToken } from '../../../crypto/secret.ts';

// A sign-in by redirect ends in the browser in which it began, because of its flow cookie.

/** How long a start is valid, in seconds (spec §8). */
export const stateSeconds = 600;

const flowCookie = /^[A-Za-z0-9_-]{43}$/;

/**
 * The flow cookie of the browser. A browser keeps the cookie it has, so that two tabs do not disturb
 * each other.
 */
export function flowOf(given: string | undefined): string {
  return given !== undefined && flowCookie.test(given) ? given : randomToken(256);
}

/** The proof of the flow cookie that a start keeps. */
export function proofOfBrowser(ctx: Context, startId: string, flow: string): string {
  return createHmac('sha256', ctx.keyring.derive('sso-browser'))
    .update(`${startId}|${flow}`)
    .digest('base64url');
}

/** Whether the flow cookie is the one that the start was bound to (security S3). */
export function isSameBrowser(
  ctx: Context,
  startId: string,
  proof: string | Buffer,
  flow: string | undefined,
): boolean {
  if (flow === undefined) return false;
  const whole = proofOfBrowser(ctx, startId, flow);
  if (typeof proof === 'string') return isEqual(whole, proof);
  const begin = Buffer.from(whole, 'base64url').subarray(0, proof.length);
  return isEqual(begin.toString('base64url'), proof.toString('base64url'));
}
