import type { Request, RequestHandler, Response } from 'express';
import { refuseField } from '../../errors.ts';
import { resumeSession } from '../../services/signin/methods/resume.ts';
import { readCookie, sessionCookies, setCookieHeader } from '../cookies.ts';
import { refuseCrossSite } from '../origins.ts';
import { openRequest } from '../request-context.ts';
import type { Door } from '../route.ts';
import { traceOf } from '../trace.ts';
import type { Page } from './page.ts';

// An access token lasts a quarter of an hour, and the refresh cookie is sent to this path alone. So a page that lacks
// the one goes there and comes back with it; a form makes the same way with everything in it (307), and the person
// sees that it was done (spec §5.2).

/** Where sessions are renewed; GET is a route of the REST surface. */
export const renewalPath = '/api/v1/auth/resume';

const ownForm = /^\/account\/[a-z/-]+\?again=1$/;

/** The way to where a session is renewed, and back to a page with its query. */
export function viaRenewal(page: string, query: Record<string, string> = {}): string {
  const back = `${page}?${new URLSearchParams({ ...query, again: '1' })}`;
  return `${renewalPath}?${new URLSearchParams({ returnTo: back })}`;
}

/** Sends a request without a session to where one is renewed; who comes back from there without one signs in. */
export function sendToRenewal({ method, path }: Page, request: Request, response: Response): void {
  const [status, back] = method === 'GET' ? [303, '/'] : [307, path];
  if (request.query['again'] !== undefined)
    return void response.status(303).location('/login').end();
  response.status(status).location(viaRenewal(back)).end();
}

/** Renews the session that a form was sent in, and has the browser send the form again. */
export function renewForForm({ app, origins }: Door): RequestHandler {
  const secure = origins.own.startsWith('https:');
  return async (request, response) => {
    traceOf(request).speaks = 'html';
    refuseCrossSite(request, origins);
    const { returnTo } = request.query;
    if (typeof returnTo !== 'string' || !ownForm.test(returnTo)) {
      throw refuseField('returnTo', 'must be a form of the account page');
    }
    const refreshToken = readCookie(request.headers.cookie, 'refresh_token');
    const session = await resumeSession(openRequest(app, request), { returnTo, refreshToken });
    for (const change of sessionCookies(session))
      response.append('Set-Cookie', setCookieHeader(change, secure));
    response.status(307).location(session.returnTo).end();
  };
}
