import { parseCookie, stringifySetCookie } from 'cookie';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { beginAtHost, findVisitor, spendTicket } from '../services/tenancy/clients/forward.ts';
import { pagePolicy } from './pages/layout.ts';
import type { Door } from './route.ts';
import { openRequest, traceOf } from './trace.ts';

// The paths of forward auth. A proxy asks `/auth/verify`, and passes `/.idctl/` of each protected
// host to idctl. It names the host in X-Forwarded-Host, never the client.

const verifyPath = '/auth/verify';
const startPath = '/.idctl/start';
const ticketPath = '/.idctl/ticket';

/** The paths, for the answer to a wrong method. */
export const forwardAuthPaths = [verifyPath, startPath, ticketPath].map((path) => ({
  method: 'GET' as const,
  path,
}));

/** Answers the requests of proxies, and of browsers on their way to a protected host. */
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
      const visitor = await findVisitor(ctx, origin, readHostCookie(request, origin, 'session'));
      if (visitor === null) return askToSignIn(request, response, origin);
      const { accountId, email, name, groups } = visitor;
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
      // Kept if it is there: two tabs may be on their way at once.
      const known = readHostCookie(request, origin, 'flow');
      const { cookie, browser } = await beginAtHost(origin, known);
      setHostCookie(response, origin, { name: 'flow', value: cookie, maxAge: 3600 });
      const query = new URLSearchParams({ origin, browser, to: pathIn(request.query['to']) });
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
      const { cookie, to } = await spendTicket(ctx, { origin, browser, ticket });
      setHostCookie(response, origin, { name: 'session', value: cookie });
      response.redirect(302, origin + to);
    }),
  );
  return router;
}

/** 401 with the address of the sign-in; a redirect for proxies that pass the answer on. */
function askToSignIn(request: Request, response: Response, origin: string): void {
  const to = pathIn(request.headers['x-forwarded-uri']);
  const location = `${origin}${startPath}?${new URLSearchParams({ to })}`;
  if (request.query['redirect'] === '1') return void response.redirect(302, location);
  response.set('WWW-Authenticate', `Idctl realm="${origin}"`);
  response.status(401).location(location).end();
}

/** The origin that the proxy asks about; empty, like no client's, unless it names exactly one. */
function originOf({ headersDistinct }: Request): string {
  const [proto, ...protos] = headersDistinct['x-forwarded-proto'] ?? [];
  const [host, ...hosts] = headersDistinct['x-forwarded-host'] ?? [];
  if (protos.length + hosts.length > 0 || !/^https?$/.test(proto ?? '')) return '';
  if (!/^[\w.:[\]-]{1,255}$/.test(host ?? '')) return '';
  return URL.parse(`${proto}://${host}`)?.origin ?? '';
}

const longestPath = 1000;

/** A path at the protected host; any other text becomes the start page. */
function pathIn(given: unknown): string {
  if (typeof given !== 'string' || !/^\/(?![/\\])/.test(given)) return '/';
  const url = URL.parse(given, 'https://host.invalid');
  if (url?.host !== 'host.invalid' || url.pathname.startsWith('/.idctl/')) return '/';
  const path = url.pathname + url.search;
  return encodeURIComponent(path).length > longestPath || path.startsWith('//') ? '/' : path;
}

/** Node writes headers as Latin-1, so each character stands for one byte of UTF-8. */
function inBytes(text: string): string {
  return Buffer.from(text.replace(/\p{Cc}/gu, ' '), 'utf8').toString('latin1');
}

type HostCookie = 'session' | 'flow';

/** With the prefix, no sibling host and no attacker without TLS can set it (RFC 6265bis). */
function nameOf(origin: string, name: HostCookie): string {
  const bare = name === 'session' ? 'idctl' : 'idctl-flow';
  return origin.startsWith('https:') ? `__Host-${bare}` : bare;
}

/** Undefined if it was sent twice, too. */
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
