import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { isEqual, randomToken } from '../../../crypto/secret.ts';
import { openState, signState } from '../../../crypto/signed.ts';
import { SpentState } from '../../../database/models/spent-state.ts';
import { transaction } from '../../../database/transaction.ts';
import { violatedUnique } from '../../../database/unique.ts';
import type { Reason } from '../../../reasons.ts';
import { after } from '../../foundation/time.ts';

// A challenge travels signed and is stored only once it comes back, like the state of single
// sign-on. So showing the sign-in page does not cost a write.

/** How long a challenge is valid, in seconds. */
export const challengeSeconds = 300;

const purposes = ['register', 'signIn', 'secondFactor', 'confirm'] as const;

/** The purpose of a challenge. The answer to a challenge is refused for any other purpose. */
export type Purpose = (typeof purposes)[number];

/** The purpose and the account that a challenge is bound to. A sign-in has no account yet. */
export interface Bound {
  purpose: Purpose;
  accountId: string | null;
}

/** The cookie that binds challenges to a browser. The routes fill it in. */
export const browserCookie = z.string().max(200).optional();

const fields = z.strictObject({
  id: z.string(),
  purpose: z.enum(purposes),
  account: z.string().nullable(),
  /** Proof of the browser's cookie. */
  browser: z.string(),
  /** Seconds since 1970. */
  expires: z.int(),
});

const cookieForm = /^[A-Za-z0-9_-]{43}$/;

/**
 * Creates a challenge, and the cookie that binds it to this browser. A browser keeps the cookie
 * that it has, so that two tabs do not disturb each other.
 */
export function createChallenge(ctx: Context, bound: Bound, given: string | undefined) {
  const browser = given !== undefined && cookieForm.test(given) ? given : randomToken(256);
  const id = randomToken(128);
  const payload: z.output<typeof fields> = {
    id,
    purpose: bound.purpose,
    account: bound.accountId,
    browser: browserProof(ctx, id, browser),
    expires: Math.ceil(after(ctx.now, challengeSeconds).getTime() / 1000),
  };
  return { challenge: signState(keyOf(ctx), payload), browser };
}

/**
 * Uses up the challenge in an answer, given in base64url. Returns why it is not valid here: not
 * ours, expired, used, or for another purpose, account or browser. Null if it is valid.
 */
export async function spendChallenge(
  ctx: Context,
  encoded: string,
  bound: Bound,
  browser: string | undefined,
): Promise<Reason | null> {
  const text = Buffer.from(encoded, 'base64url').toString('utf8');
  const payload = fields.safeParse(openState(keyOf(ctx), text)).data;
  if (payload === undefined) return 'wrong_challenge';
  const { id, purpose, account, expires } = payload;
  if (ctx.now.getTime() >= expires * 1000) return 'challenge_expired';
  if (purpose !== bound.purpose || account !== bound.accountId) return 'challenge_of_another_use';
  if (browser === undefined || !isEqual(browserProof(ctx, id, browser), payload.browser))
    return 'other_browser';
  return (await spend(id, expires)) ? null : 'challenge_replayed';
}

/** When a challenge of ours was created; null if it is none. */
export function challengeBegan(ctx: Context, encoded: string): Date | null {
  const text = Buffer.from(encoded, 'base64url').toString('utf8');
  const payload = fields.safeParse(openState(keyOf(ctx), text)).data;
  return payload === undefined ? null : new Date((payload.expires - challengeSeconds) * 1000);
}

/** Whether this is the first use of the challenge, across all processes. */
async function spend(id: string, expires: number): Promise<boolean> {
  const row = { id: `passkey ${id}`, expiresAt: new Date(expires * 1000) };
  return transaction(() => SpentState.create(row)).then(
    () => true,
    (error: unknown) => {
      if (violatedUnique(error) === null) throw error;
      return false;
    },
  );
}

function keyOf({ keyring }: Context) {
  return keyring.derive('passkey-challenge');
}

function browserProof({ keyring }: Context, id: string, browser: string): string {
  return createHmac('sha256', keyring.derive('passkey-browser'))
    .update(`${id}|${browser}`)
    .digest('base64url');
}
