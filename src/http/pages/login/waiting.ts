import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';
import type { CookieChange } from '../../cookies.ts';

// A sign-in that was right so far and lacks the code of the second factor: what was entered goes with the browser,
// sealed so that only this instance can open it, for five minutes, in a cookie that no script and no page sees. The
// code is then checked together with all the rest by the same service, so that there is no half a sign-in anywhere.

const seconds = 300;
const place = { table: 'cookies', column: 'sign_in', row: 'waiting' };

const waiting = z.object({
  by: z.enum(['password', 'directory']),
  input: z.record(z.string(), z.string()),
  returnTo: z.string(),
  until: z.number(),
});

/** What was entered, and by which form. */
export type Waiting = Omit<z.output<typeof waiting>, 'until'>;

/** The cookie with which a sign-in waits for its code. */
export function keepWaiting({ keyring, now }: Context, sign: Waiting): CookieChange {
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
