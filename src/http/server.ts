import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import express, { type Express, type Request, type RequestHandler } from 'express';
import type { App } from '../context.ts';
import { Refusal } from '../errors.ts';
import { answerErrors, answerRoute } from './answer.ts';
import { answerBrokenRequests, answerStrayTarget, createDrain } from './connections.ts';
import { serveReference } from './docs.ts';
import { forwardAuthPaths, serveForwardAuth } from './forward-auth.ts';
import { allowPublicClients } from './oauth/origins.ts';
import { providerPaths, serveProvider } from './oauth/provider.ts';
import { allowFriends, originsOf } from './origins.ts';
import { refuseUnsetAddress } from './pages/failure.ts';
import type { Page } from './pages/page.ts';
import { servePages } from './pages/serve.ts';
import type { Authenticate, Door, Route } from './route.ts';
import { serveScim } from './scim/door.ts';
import { securityHeaders } from './security-headers.ts';
import { speaksToPeople, traceRequests } from './trace.ts';
import { noticeProxy } from './untrusted-proxy.ts';

/** The HTTP server of one process. */
export interface HttpServer {
  /** Listens on `HOST:PORT` (port 0: any free port). Refuses with `listen_failed`. */
  listen(hostPort: string): Promise<void>;
  /** The URL of the listener, `http://HOST:PORT`; null before `listen`. */
  readonly url: string | null;
  /** Accepts nothing more and ends requests in flight within `budgetMs`; safe to call twice. */
  close(budgetMs?: number): Promise<void>;
}

/** Everything that the server serves. */
export interface Surface {
  routes: Route[];
  /** The pages for browsers; a test may leave them out. */
  pages?: Page[];
  authenticate: Authenticate;
  /** Runs first on every request. */
  watch?: RequestHandler;
}

/** Creates the HTTP server of an app. It serves nothing before `listen`. */
export function createServer(app: App, surface: Surface): HttpServer {
  const web = buildExpress(app, surface);
  const server = createHttpServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1000,
      // `requireOneHost` checks the header instead, because it answers with a problem object.
      requireHostHeader: false,
    },
    (request, response) => {
      const { url = '', socket } = request;
      // The request before this one was refused before its end, so the connection is closing.
      if (socket.writableEnded) return;
      // RFC 9112 §3.2: except for CONNECT, the target is a path, a whole URL, or an asterisk.
      if (url.startsWith('/') || url === '*' || URL.canParse(url)) web(request, response);
      else answerStrayTarget(response);
    },
  );
  // Node would ask for the body before idctl decides who asks.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  answerBrokenRequests(server);
  const drain = createDrain(server);
  return {
    listen: (hostPort) => listen(server, hostPort),
    get url() {
      return urlOf(server.address());
    },
    close: (budgetMs = 8000) => drain(budgetMs),
  };
}

function buildExpress(app: App, surface: Surface): Express {
  const { config } = app;
  const door: Door = { app, origins: originsOf(config), authenticate: surface.authenticate };
  const web = express();
  web.disable('x-powered-by').disable('etag');
  web.enable('case sensitive routing').enable('strict routing');
  web.set('trust proxy', config.http.trustedProxies);
  if (surface.watch) web.use(surface.watch);
  web.use(
    noticeProxy(app),
    traceRequests(app.log),
    securityHeaders(door.origins.own),
    requireOneHost,
    serveScim(app),
  );
  web.use(['/api/v1', '/auth'], (_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });
  web.use(allowFriends(door.origins), allowPublicClients(door.origins));
  web.use(serveReference());
  if (surface.pages) web.use(serveProvider(door), serveForwardAuth(door));
  for (const route of surface.routes) mount(web, route, answerRoute(route, door));
  if (surface.pages && config.baseUrlUnset) web.use(refuseUnsetAddress(app));
  if (surface.pages) web.use(servePages(surface.pages, door));
  const pages = surface.pages ? [...surface.pages, ...providerPaths, ...forwardAuthPaths] : [];
  web.use(refuseUnknown([...surface.routes, ...pages]), answerErrors(app));
  return web;
}

function mount(web: Express, { method, path }: Route, answer: RequestHandler): void {
  const verbs = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;
  web[verbs[method]](path, answer);
}

/** Refuses a request that no route answered: 405 with the methods of the path, else 404. */
function refuseUnknown(
  routes: (Pick<Route, 'method' | 'path'> & { setsCookies?: boolean })[],
): RequestHandler {
  const paths = express.Router({ caseSensitive: true, strict: true });
  const found = new WeakMap<object, Set<string>>();
  for (const { method, path, setsCookies } of routes) {
    paths.all(path, (request, _response, next) => {
      const methods = found.get(request) ?? new Set();
      found.set(request, methods.add(method));
      if (method === 'GET' && !setsCookies) methods.add('HEAD');
      next();
    });
  }
  paths.use((request, response) => {
    const methods = found.get(request);
    if (!methods) throw nothingThere(request);
    response.set('Allow', [...methods].join(', '));
    if (speaksToPeople(request)) {
      throw new Refusal('method_not_allowed', 'Page not found.', { hint: 'Check the address.' });
    }
    throw new Refusal('method_not_allowed', `${request.method} is not allowed on this path.`, {
      hint: `Use ${[...methods].join(' or ')}.`,
    });
  });
  return paths;
}

/** A page does not repeat the requested path, because an attacker can choose its text. */
function nothingThere(request: Request): Refusal {
  if (!speaksToPeople(request)) {
    return new Refusal('route_not_found', `There is nothing at ${request.path.slice(0, 256)}.`);
  }
  return new Refusal('route_not_found', 'Page not found.', { hint: 'Check the address.' });
}

/** Listens on `HOST:PORT`. Refuses with `listen_failed`. */
export async function listen(server: Server, hostPort: string): Promise<void> {
  const colon = hostPort.lastIndexOf(':');
  const host = hostPort.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) => {
      const technical =
        'Choose another address or port: listen (metrics.listen for metrics) in idctl.yaml.';
      const message =
        cause.code === 'EADDRNOTAVAIL'
          ? `This machine does not have the address ${host}.`
          : `Cannot listen on ${hostPort}: ${why(cause)}.`;
      reject(new Refusal('listen_failed', message, { cause, hint: { technical } }));
    };
    server.once('error', fail);
    server.listen({ host, port: Number(hostPort.slice(colon + 1)) }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function why({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return 'another program listens there';
  if (code === 'EACCES') return 'this user is not allowed to use that port';
  return message;
}

/** The URL of a listener, `http://HOST:PORT`; null if the server does not listen. */
export function urlOf(address: AddressInfo | string | null): string | null {
  if (address === null || typeof address === 'string') return null;
  const host = isIPv6(address.address) ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

// RFC 9112 §3.2: a Host header is a name or address, with or without a port. It may be empty.
const sound = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Refuses a request without one valid Host, because a proxy could read another host from it. */
const requireOneHost: RequestHandler = (request, _response, next) => {
  const fault = faultOf(request);
  if (fault === null) return next();
  throw new Refusal('malformed_request', fault, {
    hint: 'Send one Host header with the host and port of the URL.',
  });
};

function faultOf({ httpVersion, headersDistinct, url = '' }: IncomingMessage): string | null {
  const [host, ...more] = headersDistinct['host'] ?? [];
  if (more.length > 0) return `The Host header was sent ${more.length + 1} times.`;
  if (host === undefined) return httpVersion === '1.1' ? 'The Host header is missing.' : null;
  if (!sound.test(host)) return 'The Host header is not a host name or address.';
  const target = url.startsWith('/') ? null : URL.parse(url);
  if (target === null) return null;
  const named = URL.parse(`${target.protocol}//${host}`)?.host;
  return named === target.host
    ? null
    : 'The Host header and the target of the request name different hosts.';
}
