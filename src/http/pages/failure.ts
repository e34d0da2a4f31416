import type { Request, Response } from 'express';
import type { App } from '../../context.ts';
import { type Refusal, type RefusalCode, refusals } from '../../errors.ts';
import { setCookieHeader } from '../cookies.ts';
import { refusalHeaders, statuses } from '../refusals.ts';
import { openRequest } from '../request-context.ts';
import { traceOf } from '../trace.ts';
import { html, textOf } from './html.ts';
import { lookOf, presentPage } from './layout.ts';
import { askWho } from './login/who.ts';
import { askSecondFactor, type ShownPage } from './page.ts';
import { alert } from './parts.ts';
import { pagePolicy } from './policy.ts';
import { renewalPath } from './renew.ts';

/**
 * Answers a browser with a page where another client gets a problem object. A null refusal is a
 * bug, which only the log explains.
 */
export async function answerBrowser(
  app: App,
  refusal: Refusal | null,
  request: Request,
  response: Response,
): Promise<void> {
  response.set(pagePolicy(app.config));
  if (refusal?.continuation !== undefined) {
    const { goTo, cookies } = askSecondFactor(refusal.continuation);
    const secure = app.config.baseUrl.startsWith('https:');
    for (const change of cookies) response.append('Set-Cookie', setCookieHeader(change, secure));
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

/**
 * The address of the sign-in page. After the sign-in it returns to the page that needed a session.
 */
function signInAt(asked: unknown): string {
  const returnTo = typeof asked === 'string' ? asked : '/';
  if (returnTo.startsWith('/login?')) return returnTo;
  const known = /^\/(account\/.*)?(\?again=1)?$/.test(returnTo);
  return known ? '/login' : `/login?${new URLSearchParams({ returnTo })}`;
}

/** Shows a failed sign-in on the sign-in screen if possible, else on a page of its own. */
async function explain(app: App, refusal: Refusal | null, request: Request): Promise<ShownPage> {
  if (refusal === null) return apologize(traceOf(request).requestId);
  if (/^\/(auth|login)\//.test(request.path) && refusal.kind !== 'overloaded') {
    const ctx = openRequest(app, request);
    return askWho({ ctx, given: {}, refusal }, {}).catch(() => tell(refusal, ctx));
  }
  return tell(refusal, traceOf(request));
}

/** Headings for people, where the title of the code is written for programs. */
const headings: Partial<Record<RefusalCode, string>> = {
  not_found: 'Page not found',
  method_not_allowed: 'Page not found',
  invalid_input: 'This link does not work',
  malformed_request: 'This link does not work',
  origin_refused: 'Nothing was sent',
};

function tell(refusal: Refusal, ctx: { requestId: string }): ShownPage {
  const title = headings[refusal.code] ?? refusals[refusal.code].title;
  const said =
    refusal.message === `${title}.` ? html`<p>${refusal.hint}</p>` : alert({ refusal, ctx });
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
<p>The service made a mistake, not you. Try again. If it happens again, give your administrator this reference:</p>
<p><code class="secret">${requestId}</code></p>
<p><a class="button" href="/">Back to start</a></p>`,
  };
}
