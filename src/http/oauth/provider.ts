import type { IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { App, Context } from '../../context.ts';
import { ownSessionOf } from '../../services/people/sessions/end.ts';
import { encoded, innerRequest } from '../../services/signin/provider/inner.ts';
import { findLiveSession } from '../../services/signin/provider/live-session.sql.ts';
import { type NamedInRequest, readNamed } from '../../services/signin/provider/reading.sql.ts';
import { isClientId } from '../../services/tenancy/clients/client.ts';
import { readForm } from '../body/form.ts';
import { findCookie, formCookie, setCookies } from '../cookies.ts';
import { refuseCrossSite } from '../origins.ts';
import { recognize } from '../pages/answer.ts';
import { pagePolicy } from '../pages/layout.ts';
import { formProof } from '../pages/marks.ts';
import { isSignedIn } from '../pages/page.ts';
import { renewalTo } from '../pages/renew.ts';
import { receive } from '../receive.ts';
import type { Door } from '../route.ts';
import { openRequest, traceOf } from '../trace.ts';
import { readBasic } from './form.ts';

// The endpoints of idctl's OpenID provider. The first request loads the package `oidc-provider`,
// because an instance without clients never needs it.

const formLimit = 56 * 1024;
const shared = ['token', 'introspect', 'revoke'].map((name) => `/api/v1/oauth/${name}`);

/** The paths of idctl's OpenID provider, for the answer to a wrong method. */
export const providerPaths = [
  { method: 'GET' as const, path: '/oauth/authorize', setsCookies: true },
  { method: 'POST' as const, path: '/oauth/authorize' },
  { method: 'GET' as const, path: '/oauth/authorize/:uid', setsCookies: true },
  { method: 'POST' as const, path: '/oauth/logout' },
  { method: 'GET' as const, path: '/oauth/userinfo' },
  { method: 'POST' as const, path: '/oauth/userinfo' },
];

/** Serves idctl's OpenID provider. Requests of OAuth apps pass through to the API's routes. */
export function serveProvider(door: Door): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get(['/oauth/authorize', '/oauth/authorize/:uid'], authorize(door));
  router.post(['/oauth/authorize', '/oauth/logout'], turnIntoGet);
  router.get('/oauth/userinfo', userinfo(door)).post('/oauth/userinfo', userinfo(door));
  router.post(shared, ofClients(door));
  return router;
}

/** The authorization endpoint. It first renews a session whose session token has expired. */
function authorize({ app, authenticate, origins }: Door): RequestHandler {
  const secure = origins.own.startsWith('https:');
  return async (request, response, next) => {
    if (request.method === 'HEAD') return next();
    const trace = traceOf(request);
    trace.speaks = 'html';
    response.set(pagePolicy(app.config));
    const ctx = await recognize(openRequest(app, request), request, authenticate);
    trace.actor = ctx.actor;
    const url = pathAndQuery(request);
    if (!isSignedIn(ctx) && request.query['again'] === undefined) {
      const again = `${url}${url.includes('?') ? '&' : '?'}again=1`;
      return void response.status(303).location(renewalTo(again)).end();
    }
    const accept = 'text/html';
    const inner = innerRequest(request, app.config.baseUrl, { method: 'GET', url, accept });
    const named = { clientId: request.query['client_id'] };
    const browser = formProof(findCookie(request.headers.cookie, 'form', secure));
    setCookies(response, [formCookie(browser)], secure);
    await answerWith(app, ctx, { request, inner, response, named, browser });
  };
}

/** The path and query of a request. The target of a request may be a whole URL. */
function pathAndQuery({ originalUrl }: Request): string {
  if (originalUrl.startsWith('/')) return originalUrl;
  const { pathname, search } = new URL(originalUrl);
  return pathname + search;
}

/**
 * Redirects a form to a GET: with another site's form, browsers do not send SameSite=Lax cookies.
 */
const turnIntoGet: RequestHandler = async (request, response) => {
  traceOf(request).speaks = 'html';
  const form = await readForm(request, response, formLimit);
  if (form === null) return;
  response.set('Cache-Control', 'no-store');
  response
    .status(303)
    .location(`${request.path}?${encoded(form)}`)
    .end();
};

function userinfo({ app }: Door): RequestHandler {
  return async (request, response) => {
    traceOf(request).speaks = 'oauth';
    const received = await receiveForm(request, response);
    if (received === null) return;
    const form = request.method === 'POST' ? received : null;
    const inner = innerRequest(request, app.config.baseUrl, {
      method: form === null ? 'GET' : 'POST',
      url: '/oauth/userinfo',
      accept: 'application/json',
      ...(form === null ? {} : { form }),
    });
    const value = form?.['access_token'] ?? bearerIn(request);
    const named = { credential: { model: 'AccessToken' as const, value } };
    await answerWith(app, openRequest(app, request), { request, inner, response, named });
  };
}

/** The Bearer token. The package checks it; this finds its rows with one statement. */
function bearerIn({ headers }: Request): string | undefined {
  return /^bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Answers clients at the token, introspection and revocation endpoints. Passes apps on. */
function ofClients({ app, origins }: Door): RequestHandler {
  return async (request, response, next) => {
    traceOf(request).speaks = 'oauth';
    const form = await receiveForm(request, response);
    if (form === null) return;
    const sent = [form['client_id'], readBasic(request)?.client_id].flat();
    const clientId = sent.find((id) => typeof id === 'string' && isClientId(id));
    if (clientId === undefined) {
      refuseCrossSite(request, origins);
      return next();
    }
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    const inner = innerRequest(request, app.config.baseUrl, {
      method: 'POST',
      url: request.path,
      accept: 'application/json',
      form,
    });
    const named = { clientId, credential: credentialIn(request, form) };
    await answerWith(app, openRequest(app, request), { request, inner, response, named });
  };
}

/** Reads a client's form. It contains the credential, so only its size is checked before. */
async function receiveForm(request: Request, response: Response) {
  const received = await receive(request, response, {
    // Public clients run in pages of other sites.
    origins: null,
    who: () => null,
    right: () => undefined,
    read: () => readForm(request, response, formLimit),
  });
  return received?.given ?? null;
}

/** The code or token that a client's request redeems, asks about or revokes. */
function credentialIn({ path }: Request, form: Record<string, unknown>): Credential {
  if (!path.endsWith('/token'))
    return form['token_type_hint'] === 'refresh_token'
      ? { model: 'RefreshToken', value: form['token'] }
      : { model: 'AccessToken', value: form['token'] };
  if (form['grant_type'] === 'refresh_token')
    return { model: 'RefreshToken', value: form['refresh_token'] };
  return { model: 'AuthorizationCode', value: form['code'] };
}

type Credential = NonNullable<NamedInRequest['credential']>;

interface Exchange {
  request: Request;
  inner: IncomingMessage;
  response: Response;
  /** The client and credential that the request names, to read them with one statement. */
  named?: NamedInRequest;
  /** The cookie that the forms of this browser are bound to. */
  browser?: string;
}

/** Lets idctl's OpenID provider reply, for the live session of the request, if there is one. */
async function answerWith(
  app: App,
  ctx: Context,
  { request, inner, response, named, browser }: Exchange,
): Promise<void> {
  const { answerByProvider, providerPages } = await loadProvider();
  const id = ownSessionOf(ctx.actor);
  const read = named === undefined ? null : await readNamed(ctx, { sessionId: id, ...named });
  const session =
    id === null ? null : read === null ? await findLiveSession(ctx, id) : read.session;
  const pages = providerPages(app, traceOf(request));
  const bound = browser === undefined ? {} : { browser };
  const visit = { ctx, session, clients: new Map(), read, pages, ...bound };
  await answerByProvider(visit, inner, response);
}

let loaded: Awaited<ReturnType<typeof load>> | undefined;

async function load() {
  const [{ answerByProvider }, { providerPages }] = await Promise.all([
    import('../../services/signin/provider/provider.ts'),
    import('./pages.ts'),
  ]);
  return { answerByProvider, providerPages };
}

/** Keeps the modules: even a repeated `import()` takes as long as two SQL statements. */
async function loadProvider() {
  loaded ??= await load();
  return loaded;
}
