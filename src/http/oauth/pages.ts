import { type ErrorOut, errors } from 'oidc-provider';
import type { App } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { isOutage } from '../../log/outage.ts';
import type {
  Answering,
  Denied,
  DeniedWays,
  Pages,
} from '../../services/signin/provider/request.ts';
import { tell } from '../pages/failure.ts';
import { type Html, html, textOf } from '../pages/html.ts';
import { lookOf, pagePolicy, presentPage } from '../pages/layout.ts';
import { otherLinks } from '../pages/navigation.ts';
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
      const main = html`<h1>Continue to the application</h1>
${formTo(redirectUri, answer, 'Continue')}`;
      show(koa, 'Continue', main, [new URL(redirectUri).origin]);
    },
    deny(koa, denied, ways) {
      koa.status = statuses.forbidden;
      const { back } = ways;
      const origins = typeof back === 'string' ? [] : [new URL(back.to).origin];
      show(koa, 'No access', explainDenied(denied, ways), origins);
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

/** A form with this answer, which a person sends to the application. */
function formTo(to: string, answer: Record<string, unknown>, label: string): Html {
  const fields = Object.entries(answer).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${String(value)}">`,
  );
  return html`<form method="post" action="${to}">${fields}<button type="submit">${label}</button></form>`;
}

/** The page for a person who may not use the application. */
function explainDenied(
  { application, homeUrl, email, organization }: Denied,
  { back, otherAccount }: DeniedWays,
): Html {
  const helper =
    organization === null
      ? html`ask the administrator of ${application}`
      : html`ask an owner or admin of ${organization.name}: ${organization.managers.join(', ')}`;
  const label = `Back to ${application}`;
  // Some applications loop when they get the error, so their home page comes first.
  const cancel = homeUrl === null ? label : 'Cancel the sign-in';
  const away =
    typeof back === 'string'
      ? html`<p><a class="${homeUrl === null ? 'button' : 'quiet'}" href="${back}">${cancel}</a></p>`
      : formTo(back.to, back.answer, cancel);
  return html`<h1>You do not have access to ${application}</h1>
<p>You are signed in${email !== null && html` as <strong>${email}</strong>`}. To get access, ${helper}.</p>
${homeUrl !== null && html`<p><a class="button" href="${homeUrl}">${label}</a></p>`}
${away}
${otherLinks(html`<a href="${otherAccount}">Sign in with another account</a>`)}`;
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
