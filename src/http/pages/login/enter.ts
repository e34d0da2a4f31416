import { pendingCookie, type SessionTokens, sessionCookies } from '../../cookies.ts';
import type { PageReply } from '../page.ts';

/** What follows a sign-in that is complete: the session's cookies, and on to where the person wanted to go. */
export function arrive(session: SessionTokens, returnTo: string): PageReply {
  return { goTo: returnTo, cookies: [...sessionCookies(session), pendingCookie(null)] };
}
