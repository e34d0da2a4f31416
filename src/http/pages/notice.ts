import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Visit } from './page.ts';

// What was done stands in the address of the page that says it, with a mark that only this instance can make: for this
// browser, by the cookie that its forms are bound to, and for the account. So a link from elsewhere shows no notice, and
// nothing is stored. The session may be a new one: connecting a provider begins one.

type Bound = Pick<Visit, 'ctx' | 'cookie'>;

/** What stands in an address for a notice to this browser and account. */
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
