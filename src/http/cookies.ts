import { parseCookie, stringifySetCookie } from 'cookie';
import type { Response } from 'express';
import { Refusal } from '../errors.ts';
import { unconfirmedSeconds } from '../services/people/codes/code.ts';
import { challengeSeconds } from '../services/people/passkeys/challenge.ts';
import { browserSeconds } from '../services/people/sessions/browser.ts';

/** The cookies that idctl sets. */
export type CookieName =
  | 'access_token'
  | 'refresh_token'
  | 'session_name'
  | 'known_browser'
  | 'sso_flow'
  | 'social_flow'
  | 'second_factor'
  | 'sign_up'
  | 'passkey'
  | 'form'
  | 'shown_once'
  | 'idctl-setup';

/** A cookie to set for `maxAge` seconds; an empty value with `maxAge` 0 clears it. */
export interface CookieChange {
  name: CookieName;
  value: string;
  maxAge: number;
}

/**
 * The tokens of a session, its name, and the seconds until the refresh token expires. `browser` is
 * the name of the browser, which only a sign-in gives.
 */
export interface SessionTokens {
  accessToken: string;
  refreshToken: string;
  sessionName: string;
  refreshExpiresIn: number;
  browser?: string;
}

/**
 * The cookies of a new or refreshed session. The name of the session does not give access: with it,
 * the next sign-in or sign-out of this browser finds the session to end when the token has expired.
 */
export function sessionCookies(tokens: SessionTokens): CookieChange[] {
  const maxAge = tokens.refreshExpiresIn;
  return [
    { name: 'access_token', value: tokens.accessToken, maxAge },
    { name: 'refresh_token', value: tokens.refreshToken, maxAge },
    { name: 'session_name', value: tokens.sessionName, maxAge },
    ...(tokens.browser === undefined
      ? []
      : [{ name: 'known_browser' as const, value: tokens.browser, maxAge: browserSeconds }]),
  ];
}

/** What the cookies say of a browser's session; a cookie that was sent twice counts as absent. */
export function shownSession(header: string | undefined, secure: boolean) {
  return {
    access: findCookie(header, 'access_token'),
    refresh: findCookie(header, 'refresh_token'),
    session: findCookie(header, 'session_name', secure),
  };
}

/** The changes that clear the cookies of a session. */
export function clearedSession(): CookieChange[] {
  return [
    { name: 'access_token', value: '', maxAge: 0 },
    { name: 'refresh_token', value: '', maxAge: 0 },
    { name: 'session_name', value: '', maxAge: 0 },
  ];
}

/** The cookie that continues a sign-in at the second factor, for five minutes; null clears it. */
export function pendingCookie(continuation: string | null): CookieChange {
  return {
    name: 'second_factor',
    value: continuation ?? '',
    maxAge: continuation === null ? 0 : 300,
  };
}

/** The cookie that shows, when the address is confirmed, that this client chose the password. */
export function signUpCookie(ticket: string): CookieChange {
  return { name: 'sign_up', value: ticket, maxAge: unconfirmedSeconds };
}

/** The cookie that forms and waiting authorizations are bound to. */
export function formCookie(browser: string): CookieChange {
  return { name: 'form', value: browser, maxAge: 24 * 3600 };
}

/** The cookie that names the last forms whose answer showed a secret. */
export function shownCookie(marks: string): CookieChange {
  return { name: 'shown_once', value: marks, maxAge: 24 * 3600 };
}

/** The secret of the browser to which a setup link is bound; counts only for pages below `/setup`. */
export function setupCookie(browser: string, maxAge: number): CookieChange {
  return { name: 'idctl-setup', value: browser, maxAge };
}

/** The cookie that binds a passkey's challenge to this browser. */
export function passkeyCookie(browser: string): CookieChange {
  return { name: 'passkey', value: browser, maxAge: challengeSeconds };
}

/** The cookie that binds a sign-in by redirect to this browser. */
export function flowCookie(
  name: 'sso_flow' | 'social_flow',
  { flow, flowExpiresIn }: { flow: string; flowExpiresIn: number },
): CookieChange {
  return { name, value: flow, maxAge: flowExpiresIn };
}

/** The cookies that let a refused client continue, such as at the second factor. */
export function continuationCookies({ continuation, browser }: Refusal): CookieChange[] {
  return [
    ...(continuation === undefined ? [] : [pendingCookie(continuation)]),
    ...(browser === undefined ? [] : [passkeyCookie(browser)]),
  ];
}

/**
 * On https, every cookie but the two session tokens has the prefix `__Host-`: a sibling host or an
 * attacker without TLS cannot set it (RFC 6265bis §4.1.3.2, security X7).
 */
function nameOf(name: CookieName, secure: boolean): string {
  return secure && name !== 'access_token' && name !== 'refresh_token' ? `__Host-${name}` : name;
}

/** Adds a `Set-Cookie` header for each change. */
export function setCookies(response: Response, changes: CookieChange[], secure: boolean): void {
  for (const { name, value, maxAge } of changes) {
    // The prefix `__Host-` needs the path `/`.
    const path = name === 'refresh_token' ? '/api/v1/auth' : '/';
    const common = { path, httpOnly: true, sameSite: 'lax', secure } as const;
    const cookie = { name: nameOf(name, secure), value, maxAge, ...common };
    response.append('Set-Cookie', stringifySetCookie(cookie));
  }
}

/**
 * The value of a cookie; undefined if it is absent. A cookie that is sent twice is refused as
 * `invalid_credential` (P3). `secure` says whether idctl uses https, for cookies with a prefix.
 */
export function readCookie(
  header: string | undefined,
  cookie: CookieName,
  secure = false,
): string | undefined {
  if (header === undefined) return undefined;
  const name = nameOf(cookie, secure);
  const sent = header.split(';').filter((pair) => pair.split('=')[0]?.trim() === name);
  if (sent.length > 1) {
    throw new Refusal('invalid_credential', `The cookie ${name} was sent ${sent.length} times.`, {
      hint: 'Clear the cookies of this site, then try again.',
    });
  }
  return parseCookie(header)[name];
}

/** Like `readCookie`, but a cookie that is sent twice counts as absent. */
export function findCookie(
  header: string | undefined,
  name: CookieName,
  secure = false,
): string | undefined {
  try {
    return readCookie(header, name, secure);
  } catch {
    return undefined;
  }
}
