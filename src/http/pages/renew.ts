import type { Request, RequestHandler, Response } from 'express';
import { Refusal, refuseField } from '../../errors.ts';
import { resumeSession } from '../../services/signin/return-to.ts';
import { readCookie, sessionCookies, setCookies } from '../cookies.ts';
import { refuseCrossSite } from '../origins.ts';
import type { Door } from '../route.ts';
import { openRequest, traceOf } from '../trace.ts';
import { noticeField, type Page } from './page.ts';

// A session token lasts 15 minutes, and browsers send the refresh cookie only to paths below
// `/api/v1/auth`. So a page without a session token redirects there and returns with a new token. A
// form redirects with all its fields (307), so no input is lost (spec §5.2).

/** The path that renews sessions; GET is a route of the REST surface. */
export const renewalPath = '/api/v1/auth/resume';

/** The address that renews the session and returns to a page with its query. */
export function viaRenewal(page: string, query: Record<string, string> = {}): string {
  return renewalTo(withQuery(page, { ...query, again: '1' }));
}

/** The address that renews the session and returns to a path that has `again=1`. */
export function renewalTo(back: string): string {
  return withQuery(renewalPath, { returnTo: back });
}

/**
 * Redirects a request without a session to the renewal, and after one try to the sign-in page,
 * which returns to the page.
 */
export function sendToRenewal(page: Page, request: Request, response: Response): void {
  const { path } = request;
  const isPage = page.method === 'GET';
  const query = isPage ? textsIn(page, request) : {};
  if (request.query['again'] === undefined) {
    response
      .status(isPage ? 303 : 307)
      .location(viaRenewal(path, query))
      .end();
  } else {
    const asked = isPage && path !== '/' ? { returnTo: withQuery(path, query) } : {};
    response.status(303).location(withQuery('/login', asked)).end();
  }
}

function withQuery(path: string, query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Whether the request opens a page right after its session was renewed. */
export function isRenewed({ method }: Page, { query }: Request): boolean {
  return method === 'GET' && query['again'] !== undefined;
}

/** Redirects to the same page without the mark of the renewal in its address. */
export function sendOn(page: Page, request: Request, response: Response): void {
  // A browser reads `\` as `/`, so `/\` would begin the name of another host.
  if (request.path.includes('\\')) throw new Refusal('not_found', 'There is no such page.');
  response
    .status(303)
    .location(withQuery(request.path, textsIn(page, request)))
    .end();
}

/** The known fields of the query, as texts. */
function textsIn(page: Page, request: Request): Record<string, string> {
  const known = Object.entries(knownQuery(page, request));
  return Object.fromEntries(known.map(([key, value]) => [key, String(value)]));
}

/**
 * The fields of the query that the page knows. Ignores others, because programs that forward links
 * add their own.
 */
export function knownQuery({ input }: Page, { query }: Request): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).filter(([key]) => key === noticeField || Object.hasOwn(input.shape, key)),
  );
}

/** Renews the session of a form, and makes the browser send the form again. */
export function renewForForm(pages: Page[], { app, origins }: Door): RequestHandler {
  const secure = origins.own.startsWith('https:');
  const forms = pages.filter(({ method, access }) => method === 'POST' && access !== 'public');
  const isForm = (path: string) => forms.some((form) => patternOf(form).test(path));
  return async (request, response) => {
    traceOf(request).speaks = 'html';
    refuseCrossSite(request, origins);
    const { returnTo } = request.query;
    if (typeof returnTo !== 'string' || !isForm(returnTo))
      throw refuseField('returnTo', 'must be the path of a form');
    const refreshToken = readCookie(request.headers.cookie, 'refresh_token');
    const session = await resumeSession(openRequest(app, request), { returnTo, refreshToken });
    setCookies(response, sessionCookies(session), secure);
    response.status(307).location(session.returnTo).end();
  };
}

/** Matches the address of a form after the renewal. A key is a short name, an id or a domain. */
function patternOf({ path }: Page): RegExp {
  const parts = path.split(/:\w+/).map((part) => part.replace(/[^\w/-]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\w-]+(?:\\.[\\w-]+)*')}\\?again=1$`);
}
