import { parseCookie, stringifySetCookie } from 'cookie';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { Refusal } from '../errors.ts';
import { beginAtHost, findSignedIn, spendTicket } from '../services/tenancy/clients/forward.ts';
import { pagePolicy } from './pages/layout.ts';
import type { Door } from './route.ts';
import { openRequest, traceOf } from './trace.ts';

// The paths of forward auth. A proxy asks `/auth/verify`, and passes the path `/.idctl/` of each
// protected host to idctl. The proxy sets X-Forwarded-Host; it must drop the client's header.

const verifyPath = '/auth/verify';
const startPath = '/.idctl/start';
const ticketPath = '/.idctl/ticket';

/** The paths, for the answer to a wrong method. */
export const forwardAuthPaths = [verifyPath, startPath, ticketPath].map((path) => ({
  method: 'GET' as const,
  path,
}));

/** Answers proxies, and browsers that sign in to a protected host. */
export function serveForwardAuth({ app }: Door): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const answered =
    (answer: (request: Request, response: Response, origin: string) => Promise<void>) =>
    async (...[request, response, next]: Parameters<RequestHandler>) => {
      // Link previews send HEAD; answering it would spend the ticket.
      if (request.method === 'HEAD' && request.path !== verifyPath) return next();
      response.set({ ...pagePolicy(app.config), 'Cache-Control': 'no-store' });
      await answer(request, response, originOf(request));
    };
  router.get(
    verifyPath,
    answered(async (request, response, origin) => {
      const ctx = openRequest(app, request);
      const person = await findSignedIn(ctx, origin, readHostCookie(request, origin, 'session'));
      if (person === null) return askToSignIn(request, response, origin);
      const { accountId, email, name, groups } = person;
      response.set({
        'X-Idctl-User': accountId,
        'X-Idctl-Email': inBytes(email),
        'X-Idctl-Name': inBytes(name),
        'X-Idctl-Groups': groups.join(','),
      });
      response.status(200).end();
    }),
  );
  router.get(
    startPath,
    answered(async (request, response, origin) => {
      requireNavigation(request);
      // Keep an existing cookie, because a second tab may be signing in too.
      const known = readHostCookie(request, origin, 'flow');
      const { cookie, browser } = await beginAtHost(origin, known);
      setHostCookie(response, origin, { name: 'flow', value: cookie, maxAge: 3600 });
      const to = pathIn(request.query['to']);
      const restarted = isRestarted(request) && { restarted: '1' };
      const query = new URLSearchParams({ origin, browser, to, ...restarted });
      response.redirect(302, `${app.config.baseUrl}/login/forward?${query}`);
    }),
  );
  router.get(
    ticketPath,
    answered(async (request, response, origin) => {
      const ctx = openRequest(app, request);
      traceOf(request).speaks = 'html';
      const ticket = String(request.query['ticket'] ?? '');
      const browser = readHostCookie(request, origin, 'flow');
      const restarted = isRestarted(request);
      const { cookie, to } = await spendTicket(ctx, { origin, browser, ticket, restarted });
      if (cookie === null) {
        const again = new URLSearchParams({ to, restarted: '1' });
        return response.redirect(302, `${origin}${startPath}?${again}`);
      }
      setHostCookie(response, origin, { name: 'session', value: cookie });
      response.redirect(302, origin + to);
    }),
  );
  return router;
}

/**
 * Whether the sign-in began again. It does so only once, so that a browser is not redirected
 * forever.
 */
function isRestarted({ query }: Request): boolean {
  return query['restarted'] === '1';
}

/**
 * Refuses an image, a script or a fetch (Fetch Metadata). It cannot show a sign-in page, and its
 * new flow cookie could replace the cookie of a page that signs in.
 */
function requireNavigation({ headers }: Request): void {
  if ((headers['sec-fetch-mode'] ?? 'navigate') === 'navigate') return;
  throw new Refusal('unauthenticated', 'You are not signed in. Open the page to sign in.', {
    hint: 'Reload the page of the application.',
  });
}

/** Answers 401 with the sign-in address. With `redirect=1`, redirects the browser there. */
function askToSignIn(request: Request, response: Response, origin: string): void {
  const to = pathIn(request.headers['x-forwarded-uri']);
  const location = `${origin}${startPath}?${new URLSearchParams({ to })}`;
  if (request.query['redirect'] === '1') return void response.redirect(302, location);
  response.set('WWW-Authenticate', `Idctl realm="${origin}"`);
  response.status(401).location(location).end();
}

/** The protected origin that the proxy names; empty unless the headers name exactly one. */
function originOf({ headersDistinct }: Request): string {
  const [proto, ...protos] = headersDistinct['x-forwarded-proto'] ?? [];
  const [host, ...hosts] = headersDistinct['x-forwarded-host'] ?? [];
  if (protos.length + hosts.length > 0 || !/^https?$/.test(proto ?? '')) return '';
  if (!/^[\w.:[\]-]{1,255}$/.test(host ?? '')) return '';
  return URL.parse(`${proto}://${host}`)?.origin ?? '';
}

const longestPath = 1000;

/** Reads a path of the protected host. Any other text becomes `/`. */
function pathIn(given: unknown): string {
  if (typeof given !== 'string' || !/^\/(?![/\\])/.test(given)) return '/';
  const url = URL.parse(given, 'https://host.invalid');
  if (url?.host !== 'host.invalid' || url.pathname.startsWith('/.idctl/')) return '/';
  const path = url.pathname + url.search;
  return encodeURIComponent(path).length > longestPath || path.startsWith('//') ? '/' : path;
}

/** Encodes a header as UTF-8: Node writes Latin-1, so each character here becomes one byte. */
function inBytes(text: string): string {
  return Buffer.from(text.replace(/\p{Cc}/gu, ' '), 'utf8').toString('latin1');
}

type HostCookie = 'session' | 'flow';

/** With `__Host-`, no sibling host or attacker without TLS can set the cookie (RFC 6265bis). */
function nameOf(origin: string, name: HostCookie): string {
  const bare = name === 'session' ? 'idctl' : 'idctl-flow';
  return origin.startsWith('https:') ? `__Host-${bare}` : bare;
}

/** The value of a cookie; undefined if it is absent, malformed or sent twice. */
function readHostCookie(request: Request, origin: string, cookie: HostCookie): string | undefined {
  const name = nameOf(origin, cookie);
  const { cookie: header = '' } = request.headers;
  const sent = header.split(';').filter((pair) => pair.split('=')[0]?.trim() === name);
  const value = sent.length === 1 ? parseCookie(header)[name] : undefined;
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

function setHostCookie(
  response: Response,
  origin: string,
  { name, value, maxAge }: { name: HostCookie; value: string; maxAge?: number },
): void {
  const cookie = stringifySetCookie({
    name: nameOf(origin, name),
    value,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: origin.startsWith('https:'),
    ...(maxAge === undefined ? {} : { maxAge }),
  });
  response.append('Set-Cookie', cookie);
}
