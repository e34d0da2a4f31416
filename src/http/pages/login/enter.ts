import { Refusal } from '../../../errors.ts';
import { pendingCookie, type SessionTokens, sessionCookies } from '../../cookies.ts';
import type { Reply, Visit } from '../page.ts';
import { keepWaiting, nothingWaiting, type Waiting } from './waiting.ts';

/** Signs in: the session's cookies, and on to where the person wanted to go; or first to the code, where one is needed. */
export async function enter(
  { ctx }: Pick<Visit, 'ctx'>,
  sign: Waiting,
  begin: () => Promise<SessionTokens>,
): Promise<Reply> {
  try {
    return arrive(await begin(), sign.returnTo);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'second_factor_required') throw error;
    return { goTo: '/login/code', cookies: [pendingCookie(null), keepWaiting(ctx, sign)] };
  }
}

/** What follows a sign-in that is complete. */
export function arrive(session: SessionTokens, returnTo: string): Reply {
  return { goTo: returnTo, cookies: [...sessionCookies(session), pendingCookie(null), nothingWaiting] };
}
