import { pendingCookie, type SessionTokens, sessionCookies } from '../../cookies.ts';
import type { PageReply } from '../page.ts';

/** Completes a sign-in: sets the session's cookies and redirects to the requested page. */
export function arrive(session: SessionTokens, returnTo: string): PageReply {
  return { goTo: returnTo, cookies: [...sessionCookies(session), pendingCookie(null)] };
}
