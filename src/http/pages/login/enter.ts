import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import { type CookieChange, pendingCookie, type SessionTokens, sessionCookies } from '../../cookies.ts';
import type { Reply, Visit } from '../page.ts';

// A sign-in that was right so far and lacks the code of the second factor: what was entered goes with the browser,
// sealed so that only this instance can open it, for five minutes, in a cookie that no script and no page sees. The
// code is then checked together with all the rest by the same service, so that there is no half a sign-in anywhere.

const seconds = 300;
const place = { table: 'cookies', column: 'sign_in', row: 'waiting' };

const waiting = z.object({
  by: z.enum(['password', 'directory', 'mailCode', 'reset']),
  input: z.record(z.string(), z.string()),
  returnTo: z.string(),
  until: z.number(),
});

/** What was entered, and by which form. */
export type Waiting = Omit<z.output<typeof waiting>, 'until'>;

/** The cookie with which a sign-in waits for its code. */
function keepWaiting({ keyring, now }: Context, sign: Waiting): CookieChange {
  const text = JSON.stringify({ ...sign, until: now.getTime() + seconds * 1000 });
  return { name: 'sign_in', value: keyring.seal(text, place), maxAge: seconds };
}

/** The sign-in that waits, or null where there is none or it waited too long. */
export function findWaiting({ keyring, now }: Context, cookie: string | undefined): Waiting | null {
  if (cookie === undefined) return null;
  try {
    const { until, ...sign } = waiting.parse(JSON.parse(keyring.open(cookie, place)));
    return until < now.getTime() ? null : sign;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Clears it. */
export const nothingWaiting: CookieChange = { name: 'sign_in', value: '', maxAge: 0 };

/** Signs in: the session's cookies, and on to where the person wanted to go; or first to the code, where one is needed. */
export function enter(
  visit: Pick<Visit, 'ctx'>,
  sign: Waiting,
  begin: () => Promise<SessionTokens>,
): Promise<Reply> {
  return orAskSecondFactor(visit, sign, async () => arrive(await begin(), sign.returnTo));
}

/** Does what may need the code of the second factor, and goes to ask for that where it does. */
export async function orAskSecondFactor(
  { ctx }: Pick<Visit, 'ctx'>,
  waiting: Waiting,
  act: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'second_factor_required') throw error;
    return { goTo: '/login/code', cookies: [pendingCookie(null), keepWaiting(ctx, waiting)] };
  }
}

/** What follows a sign-in that is complete. */
export function arrive(session: SessionTokens, returnTo: string): Reply {
  return { goTo: returnTo, cookies: [...sessionCookies(session), pendingCookie(null), nothingWaiting] };
}
