import { randomUUIDv7 } from 'node:crypto';
import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { type Actor, type App, type Context, openContext } from '../context.ts';
import type { Refusal } from '../errors.ts';
import { isOutage } from '../log/outage.ts';
import { findCookie, shownSession } from './cookies.ts';
import { isWithheld } from './refusals.ts';

/** The data for the log line of a request, and the form of its refusal. */
export interface Trace {
  requestId: string;
  address: string | null;
  actor: Actor;
  refusal?: Refusal;
  speaks?: 'oauth' | 'html';
}

const traces = new WeakMap<Request, Trace>();

/** The trace of a request that passed `traceRequests`. */
export function traceOf(request: Request): Trace {
  const trace = traces.get(request);
  if (trace === undefined) throw new Error('the request has no trace');
  return trace;
}

/** Gives every request an id, and a log line without its query, headers or body (X4). */
export function traceRequests(log: Logger): RequestHandler {
  return (request, response, next) => {
    const trace: Trace = {
      requestId: randomUUIDv7(),
      address: clientAddress(request),
      actor: { kind: 'anonymous' },
    };
    const [startedAt, { method, path }] = [performance.now(), request];
    traces.set(request, trace);
    response.set('X-Request-Id', trace.requestId);
    response.once('close', () => {
      const { actor, refusal, address, requestId } = trace;
      const line = {
        requestId,
        method,
        path: loggedPath(path),
        status: response.statusCode,
        ms: Math.round(performance.now() - startedAt),
        ...(response.writableFinished ? {} : { aborted: true }),
        actor: actor.kind,
        ...(actor.kind === 'user' ? { accountId: actor.accountId } : {}),
        ...(refusal ? { code: refusal.code } : {}),
        ...whyOf(refusal),
        address,
      };
      const isFault = refusal !== undefined && isWithheld(refusal) && !isOutage(refusal);
      if (isFault || (response.statusCode >= 500 && refusal?.kind !== 'overloaded'))
        log.error(line, 'request');
      else log.info(line, 'request');
    });
    next();
  };
}

/** The path without the token of a setup link, however its address is typed (security X4). */
function loggedPath(path: string): string {
  return /setup|%/i.test(path) && isBelowSetup(path) && !withoutToken.test(path)
    ? '/setup/…'
    : path.slice(0, 256);
}

// The pages behind a setup link, with a domain or a word. A token has 22 characters, but no dot.
const withoutToken =
  /^\/setup(\/(domains|sso|ldap|scim|done)(\/(?![\w-]{12,}(\/|$))[\w.-]+){0,2})?$/;

function isBelowSetup(path: string): boolean {
  const decode = (text: string) =>
    text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const parts = decode(decode(path)).toLowerCase().split(/[/\\]/);
  // An organization may have this name.
  return parts.some((part, at) => part === 'setup' && parts[at - 1] !== 'orgs');
}

/** The fields that the log adds to the code of a refusal: the hidden reason, and the error. */
function whyOf(refusal: Refusal | undefined): { reason?: string; err?: Error } {
  // The log explains an outage once, not with each request.
  if (refusal === undefined || isOutage(refusal)) return {};
  if (isWithheld(refusal)) return { err: refusal };
  const { reason, cause } = refusal;
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(cause instanceof Error ? { err: cause } : {}),
  };
}

/**
 * The client's address: the socket's, or the address that trusted proxies forward (P9). If that is
 * not an address, the address of the nearest proxy.
 */
function clientAddress(request: Request): string | null {
  const forwarded = request.ip ?? '';
  return isIP(forwarded) ? plain(forwarded) : peerAddress(request);
}

/** The address of the other end of the connection: a client or a proxy. */
export function peerAddress({ socket }: Request): string | null {
  return socket.remoteAddress === undefined ? null : plain(socket.remoteAddress);
}

/** The address without the IPv6 prefix that a socket for both families adds. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** Opens the context of a request, with the actor that its trace has so far. */
export function openRequest(app: App, request: Request): Context {
  const { actor, requestId, address } = traceOf(request);
  const { cookie } = request.headers;
  const secure = app.config.baseUrl.startsWith('https:');
  return {
    ...openContext(app, actor),
    log: app.log.child({ requestId }),
    requestId,
    client: {
      address,
      userAgent: request.headers['user-agent']?.slice(0, 512) ?? null,
      isGone: () => request.res?.closed === true,
      shown: shownSession(cookie, secure),
      browser: findCookie(cookie, 'known_browser', secure),
    },
  };
}

/** Whether a browser asks for a page, on a path that belongs to pages. */
export function speaksToPeople(request: Request): boolean {
  return isOfPeople(request) && wantsPage(request);
}

/** Whether the path belongs to pages, not to an API. */
export function isOfPeople({ path }: Request): boolean {
  return !/^\/(api|auth|scim|healthz|readyz|\.well-known)(\/|$)/.test(path);
}

/** Whether the client prefers HTML to JSON. */
export function wantsPage(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html';
}
