import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { App, Context } from '../context.ts';
import { ClientGone, Refusal } from '../errors.ts';
import { isOutage } from '../log/outage.ts';
import { requireWithoutBody } from '../services/foundation/operation.ts';
import { findCredential } from './authenticate.ts';
import { hasBody } from './body/bytes.ts';
import { asksDryRun, checkPath, prefersView, readInput, takesBody } from './body/input.ts';
import { continuationCookies, setCookies } from './cookies.ts';
import { sendDownload } from './download.ts';
import { changeLong, writeLong } from './long-answer.ts';
import { withHints } from './next.ts';
import { oauthFault, oauthRefusal } from './oauth/refusals.ts';
import { answerBrowser } from './pages/failure.ts';
import { receive } from './receive.ts';
import {
  faultProblem,
  type Problem,
  problemOf,
  problemType,
  refusalForClients,
  refusalHeaders,
  refusalOfExpress,
} from './refusals.ts';
import { contextOfCredential, type Door, type Reply, type Route } from './route.ts';
import { isOfPeople, openRequest, speaksToPeople, traceOf, wantsPage } from './trace.ts';

/** Answers the requests of a route. */
export function answerRoute(route: Route, door: Door): RequestHandler {
  const secure = door.origins.own.startsWith('https:');
  const download = route.download?.operation;
  const asFile = download && { ...route, input: download.input };
  return async (request, response, next) => {
    const isFile = request.query['format'] !== undefined;
    // Link previews send HEAD; answering it would use up the sign-in.
    if (request.method === 'HEAD' && route.setsCookies) return next();
    if (route.speaks === 'oauth') {
      traceOf(request).speaks = 'oauth';
      // RFC 6749 §5.1 requires this header in addition to Cache-Control.
      response.set('Pragma', 'no-cache');
    }
    if (route.redirects && wantsPage(request)) traceOf(request).speaks = 'html';
    const received = await receive(request, response, {
      origins: route.crossSiteForm ? null : door.origins,
      who: () => contextOf(route, door, request),
      right: (ctx) => requireKnownRight(ctx, route, request),
      read: (ctx) => readInput((isFile && asFile) || route, request, response, { ctx, secure }),
    });
    if (received === null) return;
    const { who: ctx, given } = received;
    if (isFile && download !== undefined)
      // `readInput` has checked the input with the schema of the download.
      return sendDownload(await download(ctx, given as never), request, response);
    const dryRun = asksDryRun(route, request);
    const reply = await route.perform(ctx, given, dryRun ? door.app.rehearse : undefined);
    setCookies(response, reply.cookies, secure);
    const body = route.hints ? await changeLong(reply.body, withHints) : reply.body;
    const shown = { ...route, status: statusOf(route, request, dryRun) };
    await send(shown, { ...reply, body }, request, response);
  };
}

/** Before a body is read, requires the right as far as the path shows which one is needed. */
async function requireKnownRight(ctx: Context, route: Route, request: Request): Promise<void> {
  if (!takesBody(route) || !hasBody(request)) return;
  checkPath(route, request);
  await requireWithoutBody(ctx, route.access, request.params);
}

async function contextOf(
  route: Route,
  { app, authenticate }: Door,
  request: Request,
): Promise<Context> {
  const ctx = await identify(route, openRequest(app, request), { request, authenticate });
  traceOf(request).actor = ctx.actor;
  return ctx;
}

/** Finds the request's actor. On a public route, an invalid cookie must not block a sign-in. */
async function identify(
  route: Route,
  ctx: Context,
  { request, authenticate }: Pick<Door, 'authenticate'> & { request: Request },
): Promise<Context> {
  if (route.access === 'public' && !route.optionalActor) return ctx;
  try {
    const credential = findCredential(request);
    if (credential) return await contextOfCredential(ctx, credential, authenticate, route.along);
  } catch (error) {
    if (!(route.optionalActor && error instanceof Refusal && error.code === 'invalid_credential'))
      throw error;
  }
  if (route.access === 'public') return ctx;
  throw new Refusal('unauthenticated', 'This request needs a credential.', {
    hint: { technical: 'Sign in, or send Authorization: Bearer <token>.' },
  });
}

/** A dry run creates nothing, so it answers 200. A 204 route sends its view only on request. */
function statusOf(route: Route, request: Request, dryRun: boolean): Route['status'] {
  if (dryRun) return 200;
  return route.status === 204 && route.output !== undefined && prefersView(request)
    ? 200
    : route.status;
}

async function send(
  route: Pick<Route, 'status' | 'redirects' | 'type'>,
  { body, location }: Reply,
  request: Request,
  response: Response,
): Promise<void> {
  if (route.redirects === 'browser') response.vary('Accept');
  const browser = route.redirects === 'always' || wantsPage(request);
  if (location !== undefined && browser) {
    response.status(302).location(location).end();
  } else if (route.status === 204) {
    response.status(204).end();
  } else if (route.type !== undefined) {
    response.status(route.status).type(route.type).send(body);
  } else {
    const written = await writeLong(body);
    if (written === null) response.status(route.status).json(body);
    else response.status(route.status).type('json').send(written);
  }
}

/**
 * Replies to an error in the format that the client reads. Logs it as a bug unless it is a refusal.
 */
export function answerErrors(app: App): ErrorRequestHandler {
  // Express calls a function with four parameters for errors.
  return (error: unknown, request, response, _next) => {
    if (error instanceof ClientGone) return void response.destroy();
    const trace = traceOf(request);
    const found =
      error instanceof Refusal ? error : (app.refusalOf(error) ?? refusalOfExpress(error));
    if (found === null) app.log.error({ requestId: trace.requestId, err: error }, 'bug');
    else trace.refusal = found;
    if (found !== null && isOutage(found)) app.tellOutage(found);
    // The client must not take a part of a download for the whole.
    if (response.headersSent) return void response.destroy();
    if (trace.speaks === undefined && isOfPeople(request)) response.vary('Accept');
    if (trace.speaks === undefined && speaksToPeople(request)) trace.speaks = 'html';
    if (found === null) {
      if (trace.speaks === 'oauth')
        return void response.status(500).json(oauthFault(trace.requestId));
      if (trace.speaks === 'html') return answerBrowser(app, null, request, response);
      return sendProblem(response, faultProblem(trace.requestId));
    }
    const refusal = refusalForClients(found);
    if (trace.speaks === 'oauth') {
      const { status, headers, body } = oauthRefusal(refusal);
      return void response.status(status).set(headers).json(body);
    }
    if (trace.speaks === 'html') return answerBrowser(app, refusal, request, response);
    response.set(refusalHeaders(refusal));
    setCookies(response, continuationCookies(refusal), app.config.baseUrl.startsWith('https:'));
    sendProblem(response, problemOf(refusal, trace.requestId));
  };
}

function sendProblem(response: Response, problem: Problem): void {
  response.status(problem.status).set('Content-Type', problemType).end(JSON.stringify(problem));
}
