import type { Actor, Context } from '../../../context.ts';
import { type Account, isProvedForGood } from '../../../database/models/account.ts';
import { countUp, secondsUntilRoom } from '../limits/limit.ts';
import { isMailConfigured } from './configured.ts';
import type { Notice } from './notice.ts';
import { queueMail } from './queue.ts';

/** The account that a notice is about, and the address that the notice goes to. */
type Notified = Pick<Account, 'id' | 'email' | 'emailProof'>;

/**
 * Tells the person of an account by mail what happened to it. Call it inside the transaction of the
 * change. Unproved addresses and addresses on former domains do not get notices, because they may
 * be a stranger's. An account gets at most 20 in an hour. Returns whether a mail was queued.
 */
export async function notify(ctx: Context, account: Notified, notice: Notice): Promise<boolean> {
  const { email } = account;
  if (email === null || !isMailConfigured(ctx)) return false;
  // The old address always gets a notice of a new address (security P18).
  const isToOld = notice.what === 'address-changed' && notice.address === 'old';
  if (!isToOld && (ctx.config.mail.notices === 'off' || !isProvedForGood(account))) return false;
  if (notice.what === 'new-browser' && !(await mayTellOfBrowser(ctx, account))) return false;
  if (!isToOld && !(await mayTell(ctx, account))) return false;
  const { address, userAgent } = ctx.client;
  const from = isOwn(ctx.actor, account) ? { address, userAgent } : null;
  await queueMail(ctx, { about: 'notice', email, notice, from });
  return true;
}

/** Whether the actor is the account's holder. During a sign-in, the actor is still anonymous. */
function isOwn(actor: Actor, { id }: Notified): boolean {
  return actor.kind === 'anonymous' || (actor.kind === 'user' && actor.accountId === id);
}

const maxPerHour = 20;

/**
 * Counts a notice, even if limits are off: all mail shares one queue, and other mail would wait.
 */
async function mayTell(ctx: Context, { id: of }: Notified): Promise<boolean> {
  return (await countUp(ctx, { name: 'notices', of, max: maxPerHour, seconds: 3600 })) !== null;
}

/** Counts a mail about a new browser: at most one an hour, even if limits are off. */
async function mayTellOfBrowser(ctx: Context, { id: of }: Notified): Promise<boolean> {
  const limit = { name: 'new browsers', of, max: 1, seconds: 3600 };
  // Without this, parallel sign-ins would wait for each other's count until they commit.
  if ((await secondsUntilRoom(ctx, [limit])) > 0) return false;
  return (await countUp(ctx, limit)) !== null;
}
