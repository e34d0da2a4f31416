import type { Request, RequestHandler, Response } from 'express';
import type { Context } from '../../context.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { requireWithoutBody } from '../../services/foundation/operation.ts';
import { findPendingReturn } from '../../services/signin/pending.ts';
import { type Application, findApplication } from '../../services/signin/provider/application.ts';
import { findSetupActor, setupLinkInvalid } from '../../services/tenancy/setup-links/setup-link.ts';
import { findCredential } from '../authenticate.ts';
import { refuseNul } from '../body/check.ts';
import { readForm } from '../body/form.ts';
import { usualBody } from '../body/limits.ts';
import { type CookieName, findCookie, formCookie, setCookies } from '../cookies.ts';
import { receive } from '../receive.ts';
import { refusalHeaders, statuses } from '../refusals.ts';
import { contextOfCredential, type Door } from '../route.ts';
import { openRequest, traceOf } from '../trace.ts';
import { type Html, textOf } from './html.ts';
import { lookOf, pagePolicy, presentPage } from './layout.ts';
import { formProof, formToken, requireFormToken } from './marks.ts';
import { navigation } from './navigation.ts';
import { isSignedIn, type Page, type ShownPage, type Visit } from './page.ts';
import { isRenewed, knownQuery, sendOn, sendToRenewal } from './renew.ts';
import { markSent } from './sent-again.ts';

/** Answers the requests of a page. */
export function answerPage(page: Page, { app, origins, authenticate }: Door): RequestHandler {
  const policy = pagePolicy(app.config);
  const byLink = isBehindSetupLink(page);
  const secure = origins.own.startsWith('https:');
  return async (request, response) => {
    const trace = traceOf(request);
    trace.speaks = 'html';
    response.set(policy);
    const cookie = (name: CookieName) => findCookie(request.headers.cookie, name, secure);
    const browser = formProof(cookie('form'));
    const received = await receive(request, response, {
      origins,
      who: async () => {
        const opened = openRequest(app, request);
        const ctx = byLink
          ? await recognizeLink(opened, cookie('idctl-setup'))
          : await recognize(opened, request, authenticate);
        trace.actor = ctx.actor;
        return { ctx, token: formToken(ctx, browser) };
      },
      right: async ({ ctx }) => {
        refuseNul(request.params);
        if (page.access === 'public') return;
        if (byLink) return requireLink(ctx, page, request);
        if (!isSignedIn(ctx)) return sendToRenewal(page, request, response);
        if (isRenewed(page, request)) return sendOn(page, request, response);
        if (page.access !== 'person') await requireWithoutBody(ctx, page.access, request.params);
      },
      read: ({ ctx }) =>
        readFields(page, { ctx, browser, request, response, fixed: fixedFor(ctx, request) }),
    });
    if (received === null) return;
    const { who, given: read } = received;
    const { ctx, token } = who;
    const { given, sent } = read;
    const application = await applicationOf(ctx, page, { given, browser, cookie });
    const back = application?.origins ?? [];
    // Set before the page answers, because a refusal may also show a form.
    response.set(pagePolicy(app.config, { origins: back }));
    const rehearse: Visit['rehearse'] = (operation, input) =>
      operation.rehearse?.(ctx, input) ?? app.rehearse(() => operation(ctx, input));
    // Before the page acts: if it fails afterwards, a secret that is shown once would be lost.
    const links = page.access === 'public' || byLink ? null : await navigation(ctx, page, given);
    const reply = await page.answer({ ctx, token, cookie, given, sent, rehearse });
    const further = 'origins' in reply ? reply.origins : [];
    const script = 'script' in reply && reply.script === true;
    response.set(pagePolicy(app.config, { origins: [...back, ...further], script }));
    setCookies(response, [formCookie(browser), ...(reply.cookies ?? [])], secure);
    if ('goTo' in reply) return void response.status(303).location(reply.goTo).end();
    const shown = { ...reply, application: application?.name };
    send(presentPage(lookOf(app.config), shown, links), reply, request, response);
  };
}

/** Whether only the cookie of a setup link opens the page (security O13). */
function isBehindSetupLink({ path, access }: Page): boolean {
  return access !== 'public' && `${path}/`.startsWith('/setup/');
}

/** The context with the actor of a setup link. No other credential counts. */
async function recognizeLink(ctx: Context, secret: string | undefined): Promise<Context> {
  const actor = await findSetupActor(ctx, secret);
  return actor === null ? ctx : { ...ctx, actor };
}

async function requireLink(ctx: Context, { access }: Page, { params }: Request): Promise<void> {
  const { actor } = ctx;
  if (actor.kind !== 'setupLink' || access === 'person') throw setupLinkInvalid();
  await requireWithoutBody(ctx, access, { ...params, org: actor.organizationId });
}

/** The fields that the request cannot choose: those of the path, and the organization of a link. */
function fixedFor({ actor }: Context, { params }: Request): Record<string, string> {
  // A path has no wildcard, so each key is a text.
  const keys = Object.entries(params).map(([key, value]) => [key, String(value)]);
  const org = actor.kind === 'setupLink' ? { org: actor.organizationId } : {};
  return { ...Object.fromEntries(keys), ...org };
}

/** The context with the actor of the request's credential. Ignores an invalid credential. */
export async function recognize(
  ctx: Context,
  request: Request,
  authenticate: Door['authenticate'],
): Promise<Context> {
  try {
    const credential = findCredential(request);
    return credential === null ? ctx : await contextOfCredential(ctx, credential, authenticate);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'invalid_credential') return ctx;
    throw error;
  }
}

async function readFields(
  page: Page,
  {
    ctx,
    browser,
    request,
    response,
    fixed,
  }: {
    ctx: Context;
    browser: string;
    request: Request;
    response: Response;
    fixed: Record<string, string>;
  },
) {
  const isForm = page.method === 'POST';
  const all = isForm
    ? await readForm(request, response, page.bytes ?? usualBody.bytes)
    : knownQuery(page, request);
  if (all === null) return null;
  const { token, ...fields } = all;
  const given = isForm ? fields : all;
  const repeated = Object.entries(given).find(([, value]) => typeof value !== 'string');
  if (repeated) throw refuseField(repeated[0], 'is given more than once');
  if (isForm) requireFormToken(ctx, browser, token);
  const texts = Object.entries(given).map(([field, value]) => [field, String(value)] as const);
  if (texts.some(([, text]) => text.includes('\0'))) {
    throw new Refusal(
      'invalid_input',
      'The input contains a character that is not allowed. Type it again instead of pasting it.',
    );
  }
  const twice = texts.find(([field]) => Object.hasOwn(fixed, field));
  if (twice) throw refuseField(twice[0], 'is not a known field');
  // An empty field counts as absent.
  const filled = Object.fromEntries(texts.filter(([, text]) => text !== ''));
  return { given: { ...filled, ...fixed }, sent: markSent(ctx, request.path, all) };
}

/** The application that the person signs in to; null if the sign-in is for idctl itself. */
async function applicationOf(
  ctx: Context,
  { path }: Page,
  {
    given,
    browser,
    cookie,
  }: {
    given: Record<string, string>;
    browser: string;
    cookie: (name: CookieName) => string | undefined;
  },
): Promise<Application | null> {
  if (!path.startsWith('/login')) return null;
  // At the second factor, the pending sign-in has the return address; elsewhere the request has it.
  const returnTo =
    path === '/login/code'
      ? await findPendingReturn(ctx, cookie('second_factor'))
      : given['returnTo'];
  return findApplication(ctx, returnTo, browser);
}

function send(document: Html, { refusal }: ShownPage, request: Request, response: Response): void {
  if (refusal !== undefined) {
    traceOf(request).refusal = refusal;
    response.status(statuses[refusal.kind]).set(refusalHeaders(refusal));
  }
  response.type('html').end(textOf(document));
}
