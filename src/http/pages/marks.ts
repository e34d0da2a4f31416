import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { namedSession } from '../../services/people/sessions/tokens.ts';
import type { Visit } from './page.ts';

// A form contains a token that only a page of this instance can create. The token is bound to a
// cookie of the browser and, after sign-in, to the session. The request's origin is checked too.

const proof = /^[A-Za-z0-9_-]{22}$/;

/** The value of the cookie that forms are bound to: as the browser sent it, or new. */
export function formProof(sent: string | undefined): string {
  return sent !== undefined && proof.test(sent) ? sent : randomBytes(16).toString('base64url');
}

/** The proof in a form's token, for this browser and its session, if there is one. */
function proofFor(ctx: Context, browser: string): string {
  return createHmac('sha256', ctx.keyring.derive('form token'))
    .update(`${browser}|${holderOf(ctx)}`)
    .digest('base64url');
}

/** The token of the forms of a page. Its end differs on every page, for `refuseSentAgain`. */
export function formToken(ctx: Context, browser: string): string {
  return proofFor(ctx, browser) + randomBytes(9).toString('base64url');
}

/**
 * The session or setup link that forms are bound to. A cookie names the session also when its token
 * has expired.
 */
function holderOf(ctx: Context): string {
  const { actor } = ctx;
  if (actor.kind === 'setupLink') return `setup link ${actor.id}`;
  if (actor.kind === 'user' && actor.via === 'session') return actor.sessionId;
  return namedSession(ctx) ?? actor.kind;
}

/** Refuses with `origin_refused` if the form was not issued to this browser. */
export function requireFormToken(ctx: Context, browser: string, sent: unknown): void {
  const expected = Buffer.from(proofFor(ctx, browser));
  const given = Buffer.from(typeof sent === 'string' ? sent : '').subarray(0, expected.length);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new Refusal('origin_refused', 'This form has expired, or was not opened in this browser.', {
    hint: 'Nothing was changed. Allow cookies for this page, open it again and send the form again.',
  });
}

// The URL of a page names the notice to show. The name is signed for the account and the form
// cookie, so that a link from elsewhere does not show a notice. It is not bound to the session,
// because connecting a provider begins a new session.

type Bound = Pick<Visit, 'ctx' | 'cookie'>;

/** The query value that shows a notice to this browser, and to this account or setup link. */
export function markNotice({ ctx, cookie }: Bound, name: string): string {
  const { actor } = ctx;
  if (actor.kind === 'setupLink') return mark({ ctx, cookie }, name, actor.id);
  return mark({ ctx, cookie }, name, actor.kind === 'user' ? actor.accountId : '');
}

/** The query value that shows a notice on the sign-in page, without an account. */
export function markSignInNotice(visit: Bound, name: string): string {
  return mark(visit, name, '');
}

/** The notice that the URL names, if it was signed for this browser and account. */
export function noticeOf(visit: Bound, given = ''): string | undefined {
  const name = given.split('.')[0] ?? '';
  const expected = Buffer.from(markNotice(visit, name));
  const sent = Buffer.from(given);
  const marked = sent.length === expected.length && timingSafeEqual(sent, expected);
  return marked && visit.cookie('form') !== undefined ? name : undefined;
}

function mark({ ctx, cookie }: Bound, name: string, account: string): string {
  const sum = createHmac('sha256', ctx.keyring.derive('notice'));
  sum.update(JSON.stringify([cookie('form') ?? '', account, name]));
  return `${name}.${sum.digest('base64url').slice(0, 22)}`;
}
