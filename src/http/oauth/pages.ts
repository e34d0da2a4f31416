import { type ErrorOut, errors } from 'oidc-provider';
import type { App } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { isOutage } from '../../log/outage.ts';
import type { Answering, Pages } from '../../services/signin/provider/request.ts';
import { tell } from '../pages/failure.ts';
import { type Html, html, textOf } from '../pages/html.ts';
import { lookOf, pagePolicy, presentPage } from '../pages/layout.ts';
import { refusalForClients, refusalHeaders, statuses } from '../refusals.ts';
import type { Trace } from '../trace.ts';
import { oauthFault, oauthRefusal } from './refusals.ts';

/** The pages and errors of idctl's OpenID provider, in the style of all pages. */
export function providerPages(app: App, trace: Trace): Pages {
  const show = (koa: Answering, title: string, main: Html, origins: string[] = []) => {
    koa.set(pagePolicy(app.config, { origins }));
    koa.set('Content-Type', 'text/html; charset=utf-8');
    koa.body = textOf(presentPage(lookOf(app.config), { title, main }));
  };
  return {
    fail(koa, out, error) {
      if (error instanceof errors.OIDCProviderError)
        return show(koa, ...explain(out, error instanceof errors.SessionNotFound));
      const refusal = log(app, trace, error);
      koa.status = refusal === null ? 500 : statuses[refusal.kind];
      if (refusal !== null) koa.set(refusalHeaders(refusal));
      const { title, main } = tell(refusal, trace);
      show(koa, title, main);
    },
    post(koa, redirectUri, answer) {
      koa.status = 200;
      const fields = Object.entries(answer).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${String(value)}">`,
      );
      const main = html`<h1>Continue to the application</h1>
<form method="post" action="${redirectUri}">${fields}<button type="submit">Continue</button></form>`;
      show(koa, 'Continue', main, [new URL(redirectUri).origin]);
    },
    breakOff(koa, fault) {
      const refusal = log(app, trace, fault);
      const { status, headers, body } =
        refusal === null
          ? { status: 500, headers: {}, body: oauthFault(trace.requestId) }
          : oauthRefusal(refusal);
      koa.status = status;
      koa.set(headers);
      koa.body = body;
    },
  };
}

/** Logs a bug. Returns a refusal as clients may see it; the log line of the request names it. */
function log(app: App, trace: Trace, fault: unknown): Refusal | null {
  const refusal = fault instanceof Refusal ? fault : app.refusalOf(fault);
  if (refusal === null) app.log.error({ requestId: trace.requestId, err: fault }, 'bug');
  else trace.refusal = refusal;
  if (refusal !== null && isOutage(refusal)) app.tellOutage(refusal);
  return refusal && refusalForClients(refusal);
}

/** The page for an error that cannot go back to the application, such as a wrong redirect URI. */
function explain({ error, error_description: said }: ErrorOut, expired: boolean): [string, Html] {
  if (expired) {
    const title = 'This sign-in has expired';
    return [title, html`<h1>${title}</h1><p>Go back to the application and sign in again.</p>`];
  }
  const title = 'This sign-in does not work';
  return [
    title,
    html`<h1>${title}</h1>
<p>The application that sent you here is not set up correctly. Give its administrator this message:</p>
<p><code>${error}${said !== undefined && `: ${said}`}</code></p>`,
  ];
}
