import type { Request, RequestHandler, Response } from 'express';
import type { App } from '../../context.ts';
import { type Refusal, type RefusalCode, refusals } from '../../errors.ts';
import { sentencesFor } from '../../next.ts';
import { isLoopback } from '../../text/address.ts';
import { setCookies } from '../cookies.ts';
import { refusalHeaders, statuses } from '../refusals.ts';
import { openRequest, speaksToPeople, traceOf } from '../trace.ts';
import { html, textOf } from './html.ts';
import { lookOf, pagePolicy, presentPage } from './layout.ts';
import { askWho } from './login/methods.ts';
import { type ShownPage, toSecondFactor } from './page.ts';
import { alert } from './parts.ts';
import { renewalPath } from './renew.ts';

/** Replies with a page or a redirect. A null refusal is a bug, which only the log explains. */
export async function answerBrowser(
  app: App,
  refusal: Refusal | null,
  request: Request,
  response: Response,
): Promise<void> {
  response.set(pagePolicy(app.config));
  if (refusal?.continuation !== undefined) {
    const { goTo, cookies } = toSecondFactor(refusal.continuation);
    setCookies(response, cookies, app.config.baseUrl.startsWith('https:'));
    return void response.status(303).location(goTo).end();
  }
  if (
    refusal?.code === 'unauthenticated' ||
    (refusal?.kind === 'unauthenticated' && request.path === renewalPath)
  ) {
    return void response.status(303).location(signInAt(request.query['returnTo'])).end();
  }
  const shown = await explain(app, refusal, request);
  response.status(refusal === null ? 500 : statuses[refusal.kind]);
  if (refusal !== null) response.set(refusalHeaders(refusal));
  response.type('html').end(textOf(presentPage(lookOf(app.config), shown)));
}

/** The address of the sign-in page, which returns to the page that needed a session. */
function signInAt(asked: unknown): string {
  const returnTo = typeof asked === 'string' ? asked : '/';
  if (/^\/(login\?|setup\/)/.test(returnTo)) return returnTo;
  const known = /^\/(account\/.*)?(\?again=1)?$/.test(returnTo);
  return known ? '/login' : `/login?${new URLSearchParams({ returnTo })}`;
}

/** Shows a failed sign-in on the sign-in page if possible, else on a separate page. */
async function explain(app: App, refusal: Refusal | null, request: Request): Promise<ShownPage> {
  const isOfSignIn = /^\/(auth|login)\//.test(request.path);
  if (isOfSignIn && refusal !== null && refusal.kind !== 'overloaded') {
    const ctx = openRequest(app, request);
    return askWho({ ctx, given: {}, refusal }, {}).catch(() => tell(refusal, ctx));
  }
  return tell(refusal, traceOf(request));
}

/** Headings for people, in place of titles that are written for developers. */
const headings: Partial<Record<RefusalCode, string>> = {
  not_found: 'Page not found',
  route_not_found: 'Page not found',
  method_not_allowed: 'Page not found',
  invalid_input: 'This link does not work',
  malformed_request: 'This link does not work',
  origin_refused: 'Nothing was sent',
  setup_link_invalid: 'This link does not work',
};

/** The page for a refusal; null is a bug, which only the log explains. */
export function tell(refusal: Refusal | null, ctx: { requestId: string }): ShownPage {
  if (refusal === null) return apologize(ctx.requestId);
  const title = headings[refusal.code] ?? refusals[refusal.code].title;
  const said =
    refusal.message === `${title}.`
      ? html`<p>${sentencesFor(refusal.hint)}</p>`
      : alert({ refusal, ctx });
  return {
    title,
    main: html`<h1>${title}</h1>
${said}
<p><a class="button" href="/">Back to start</a></p>`,
  };
}

function apologize(requestId: string): ShownPage {
  return {
    title: 'Something went wrong',
    main: html`<h1>Something went wrong</h1>
<p>This is an error in the service, not your mistake. Try again. If it happens again, give your administrator this reference:</p>
<p><code class="secret">${requestId}</code></p>
<p><a class="button" href="/">Back to start</a></p>`,
  };
}

/** The limit on logged addresses, because any client can invent them. */
const maxLogged = 20;

/**
 * Without `baseUrl`, links lead to this machine. So a page opened through a proxy or at another
 * address only says to ask the administrator. The log names the setting and the address.
 */
export function refuseUnsetAddress({ config, log }: App): RequestHandler {
  const own = new URL(config.baseUrl).host;
  const logged = new Set<string>();
  return (request, response, next) => {
    const seen = speaksToPeople(request) ? addressSeen(request, own) : null;
    if (seen === null) return next();
    if (!logged.has(seen) && logged.size < maxLogged) {
      logged.add(seen);
      log.warn({ seen, baseUrl: config.baseUrl }, 'set baseUrl to the address that browsers use');
    }
    response.status(503).set(pagePolicy(config));
    const title = 'Not set up yet';
    const main = html`<h1>${title}</h1>
<p>This address is not set up yet. Ask the administrator.</p>`;
    response.type('html').end(textOf(presentPage(lookOf(config), { title, main })));
  };
}

/** The address that the person typed, from the headers; null if idctl itself listens there. */
function addressSeen({ headers }: Request, own: string): string | null {
  const first = (name: string) =>
    String(headers[name] ?? '')
      .split(',', 1)[0]
      ?.trim() ?? '';
  const isForwarded = [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
  ].some((name) => headers[name] !== undefined);
  const host = first('x-forwarded-host') || (headers.host ?? '');
  const place = URL.parse(`http://${host}`);
  const name = place?.hostname ?? '';
  if (!isForwarded && (host === own || name === '' || isLoopback(name))) return null;
  const scheme = /^https?$/.exec(first('x-forwarded-proto'))?.[0] ?? 'http';
  // An operator may copy this value from the log into the configuration, so accept only an
  // address.
  const isAddress = place !== null && /^[\w.:[\]-]{1,255}$/.test(host);
  return isAddress ? `${scheme}://${place.host}` : 'not an address';
}
