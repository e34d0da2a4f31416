import type { Request, RequestHandler } from 'express';
import { isLoopback } from '../../config/listen.ts';
import type { App } from '../../context.ts';
import { speaksToPeople } from '../answer.ts';
import { html, textOf } from './html.ts';
import { lookOf, presentPage } from './layout.ts';
import { pagePolicy } from './policy.ts';

/** Limits the logged addresses, because any client can make them up. */
const mostLogged = 20;

/**
 * If `baseUrl` is not set behind a proxy, no page works: links lead to this machine, and forms are
 * refused. The page says to ask the administrator; the log names the setting and the address seen.
 */
export function refuseUnsetAddress({ config, log }: App): RequestHandler {
  const own = new URL(config.baseUrl).host;
  const logged = new Set<string>();
  return (request, response, next) => {
    const seen = speaksToPeople(request) ? addressSeen(request, own) : null;
    if (seen === null) return next();
    if (!logged.has(seen) && logged.size < mostLogged) {
      logged.add(seen);
      log.warn(
        { seen, baseUrl: config.baseUrl },
        'baseUrl is not set, and people come by another address: set it',
      );
    }
    response.status(503).set(pagePolicy(config));
    const title = 'Not set up yet';
    const main = html`<h1>${title}</h1>
<p>This address is not set up yet. Ask the administrator.</p>`;
    response.type('html').end(textOf(presentPage(lookOf(config), { title, main })));
  };
}

/**
 * The address that the person typed, as far as the request shows it. Null if it is the address that
 * idctl listens on.
 */
function addressSeen({ headers }: Request, own: string): string | null {
  const first = (name: string) =>
    String(headers[name] ?? '')
      .split(',', 1)[0]
      ?.trim() ?? '';
  const isForwarded = [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
  ].some((name) => headers[name] !== undefined);
  const host = first('x-forwarded-host') || (headers.host ?? '');
  const place = URL.parse(`http://${host}`);
  const name = place?.hostname ?? '';
  if (!isForwarded && (host === own || name === '' || isLoopback(name))) return null;
  const scheme = /^https?$/.exec(first('x-forwarded-proto'))?.[0] ?? 'http';
  // An operator copies this value from the log into the configuration, so it must be an address
  // only.
  const isAddress = place !== null && /^[\w.:[\]-]{1,255}$/.test(host);
  return isAddress ? `${scheme}://${place.host}` : 'not an address';
}
