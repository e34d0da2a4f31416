import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { Refusal } from '../errors.ts';
import { readCookie } from './cookies.ts';

/** The origins whose scripts may call the API: idctl's own, and those in `http.corsOrigins`. */
export interface Origins {
  own: string;
  friends: ReadonlySet<string>;
}

/** The origins of a configuration, in the spelling of an `Origin` header. */
export function originsOf(config: { baseUrl: string; http: { corsOrigins: string[] } }): Origins {
  return {
    own: new URL(config.baseUrl).origin,
    friends: new Set(config.http.corsOrigins.map((text) => new URL(text).origin)),
  };
}

/** Lets scripts of the configured origins, and no others, read answers; answers preflights. */
export function allowFriends({ friends }: Origins): RequestHandler {
  return (request, response, next) => {
    const { origin } = request.headers;
    if (friends.size > 0) response.vary('Origin');
    if (origin === undefined || !friends.has(origin)) return next();
    response.set('Access-Control-Allow-Origin', origin);
    response.set('Access-Control-Expose-Headers', 'X-Request-Id, Retry-After, WWW-Authenticate');
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method'])
      return next();
    response.set('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE');
    response.set('Access-Control-Allow-Headers', 'authorization, content-type, x-api-key');
    response.set('Access-Control-Max-Age', '600').status(204).end();
  };
}

/**
 * Refuses a changing request that a page of another site sent from a person's browser. A request with a
 * Bearer token or an API key passes: a page of another origin needs a preflight to add one. A
 * request of a configured origin passes if it has no session cookie.
 */
export function refuseCrossSite(request: IncomingMessage, { own, friends }: Origins): void {
  if (/^(GET|HEAD|OPTIONS)$/.test(request.method ?? '') || hasHeaderCredential(request)) return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined && friends.has(origin) && !hasCookie(request)) return;
  const foreign = [
    origin !== undefined && origin !== own,
    site !== undefined && site !== 'same-origin',
  ];
  if (!foreign.includes(true)) return;
  throw new Refusal('origin_refused', `This request came from a page outside ${own}.`, {
    hint: { technical: 'Open idctl at its base URL, or authenticate with a Bearer token.' },
  });
}

function hasHeaderCredential({ headers }: IncomingMessage): boolean {
  return /^bearer /i.test(headers.authorization ?? '') || headers['x-api-key'] !== undefined;
}

function hasCookie({ headers: { cookie } }: IncomingMessage): boolean {
  return (
    readCookie(cookie, 'access_token') !== undefined ||
    readCookie(cookie, 'refresh_token') !== undefined
  );
}
