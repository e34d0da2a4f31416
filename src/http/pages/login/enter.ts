import { pendingCookie, type SessionTokens, sessionCookies } from '../../cookies.ts';
import type { PageReply } from '../page.ts';

/** Completes a sign-in: sets the session's cookies and goes to the page that the person wanted. */
export function arrive(session: SessionTokens, returnTo: string): PageReply {
  return { goTo: returnTo, cookies: [...sessionCookies(session), pendingCookie(null)] };
}
