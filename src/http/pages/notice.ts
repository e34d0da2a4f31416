import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Visit } from './page.ts';

// A page's address names the notice to show, with a mark that only this instance can make. The mark
// is bound to the account and to the form cookie of the browser. So a link from elsewhere shows no
// notice, and nothing is stored. It is not bound to the session: connecting a provider begins a new
// one.

type Bound = Pick<Visit, 'ctx' | 'cookie'>;

/** The query value that shows a notice to this browser and account. */
export function markNotice({ ctx, cookie }: Bound, name: string): string {
  return mark({ ctx, cookie }, name, ctx.actor.kind === 'user' ? ctx.actor.accountId : '');
}

/** The same for the sign-in page, where this browser is signed out. */
export function markSignInNotice(visit: Bound, name: string): string {
  return mark(visit, name, '');
}

/** The notice that the address names, if it was marked for this browser and account. */
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
