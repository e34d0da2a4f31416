import type { Answer, Client } from './http.ts';
import type { Idctl } from './idctl.ts';

// The requests that a proxy and a browser send to idctl for a protected host.

/** A browser at a protected host, behind a proxy that passes its requests to idctl. */
export function browserAt(idctl: Pick<Idctl, 'client'>, origin: string): Client {
  const { protocol, host } = new URL(origin);
  const headers = { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host };
  return idctl.client({ keepCookies: true, headers });
}

/** Sends the proxy's request to `/auth/verify`, for a request of this browser. */
export function verify(browser: Client, uri = '/'): Promise<Answer> {
  return browser.get('/auth/verify', { 'x-forwarded-uri': uri });
}

/** The path and query of the address that an answer redirects to. */
export function next({ headers }: Answer): string {
  const { pathname, search } = new URL(String(headers['location']), 'http://none.invalid');
  return pathname + search;
}

/** Follows the redirects from the protected host to idctl, and returns the path with the ticket. */
export async function fetchTicket(browser: Client, signedIn: Client, uri = '/'): Promise<string> {
  const asked = await verify(browser, uri);
  const away = await browser.get(next(asked));
  return next(await signedIn.get(next(away), { accept: 'text/html' }));
}

/** Signs the browser in at the protected host. Afterwards it has the host's cookie. */
export async function enter(browser: Client, signedIn: Client, uri = '/'): Promise<Answer> {
  return browser.get(await fetchTicket(browser, signedIn, uri), { accept: 'text/html' });
}
