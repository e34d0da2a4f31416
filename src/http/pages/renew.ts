import type { Request, RequestHandler, Response } from 'express';
import { refuseField } from '../../errors.ts';
import { resumeSession } from '../../services/signin/return-to.ts';
import { readCookie, sessionCookies, setCookies } from '../cookies.ts';
import { refuseCrossSite } from '../origins.ts';
import type { Door } from '../route.ts';
import { openRequest, traceOf } from '../trace.ts';
import type { Page } from './page.ts';

// A session token lasts 15 minutes, and browsers send the refresh cookie only to paths below
// `/api/v1/auth`. So a page without a session token redirects there and returns with a new token. A
// form redirects with all its fields (307), so no input is lost (spec §5.2).

/** The path that renews sessions; GET is a route of the REST surface. */
export const renewalPath = '/api/v1/auth/resume';

const ownForm = /^\/account\/[a-z/-]+\?again=1$/;

/** The address that renews the session and returns to a page with its query. */
export function viaRenewal(page: string, query: Record<string, string> = {}): string {
  return renewalTo(`${page}?${new URLSearchParams({ ...query, again: '1' })}`);
}

/** The address that renews the session and returns to a path that has `again=1`. */
export function renewalTo(back: string): string {
  return `${renewalPath}?${new URLSearchParams({ returnTo: back })}`;
}

/** Redirects a request without a session to the renewal, and after one try to the sign-in page. */
export function sendToRenewal({ method, path }: Page, request: Request, response: Response): void {
  const [status, back] = method === 'GET' ? [303, '/'] : [307, path];
  if (request.query['again'] !== undefined)
    return void response.status(303).location('/login').end();
  response.status(status).location(viaRenewal(back)).end();
}

/** Renews the session of a form, and makes the browser send the form again. */
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
    setCookies(response, sessionCookies(session), secure);
    response.status(307).location(session.returnTo).end();
  };
}
