import type { Answer, Client } from './http.ts';
import type { Idctl } from './idctl.ts';

// What a proxy and a browser send to idctl at a protected host.

/** A browser at the host, behind a proxy that passes its requests to idctl. */
export function browserAt(idctl: Pick<Idctl, 'client'>, origin: string): Client {
  const { protocol, host } = new URL(origin);
  const headers = { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host };
  return idctl.client({ keepCookies: true, headers });
}

/** Asks as the proxy does, for a request of this browser. */
export function verify(browser: Client, uri = '/'): Promise<Answer> {
  return browser.get('/auth/verify', { 'x-forwarded-uri': uri });
}

/** The path and query of the address that an answer redirects to. */
export function next({ headers }: Answer): string {
  const { pathname, search } = new URL(String(headers['location']), 'http://none.invalid');
  return pathname + search;
}

/** From the protected host to idctl, as far as the address with the ticket. */
export async function fetchTicket(browser: Client, signedIn: Client, uri = '/'): Promise<string> {
  const asked = await verify(browser, uri);
  const away = await browser.get(next(asked));
  return next(await signedIn.get(next(away), { accept: 'text/html' }));
}

/** The whole way: the browser has the host's cookie afterwards. */
export async function enter(browser: Client, signedIn: Client, uri = '/'): Promise<Answer> {
  return browser.get(await fetchTicket(browser, signedIn, uri), { accept: 'text/html' });
}
