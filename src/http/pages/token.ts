import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';

// A form carries a token that only a page of this instance can create. The token is bound to a
// cookie of the browser and, after sign-in, to the session. It adds to the check of the request's
// origin and does not replace it.

const proof = /^[A-Za-z0-9_-]{22}$/;

/** The cookie that the forms of this browser are bound to: the cookie sent, or a new one. */
export function formProof(sent: string | undefined): string {
  return sent !== undefined && proof.test(sent) ? sent : randomBytes(16).toString('base64url');
}

/** The token of a form for this browser and its session, if there is one. */
export function formToken({ keyring, actor }: Context, browser: string): string {
  const who = actor.kind === 'user' && actor.via === 'session' ? actor.sessionId : actor.kind;
  return createHmac('sha256', keyring.derive('form token'))
    .update(`${browser}|${who}`)
    .digest('base64url');
}

/** Refuses a form that idctl did not give to this browser, as `origin_refused`. */
export function requireFormToken(expected: string, sent: unknown): void {
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  if (given.length === expected.length && timingSafeEqual(given, Buffer.from(expected))) return;
  throw new Refusal('origin_refused', 'This form is too old, or was not opened in this browser.', {
    hint: 'Nothing was done. Open the page again and send it once more; cookies must be allowed for it.',
  });
}
