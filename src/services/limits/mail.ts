import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { countUp } from './count.ts';
import { networkOf } from './network.ts';
import { isStranger } from './password.ts';
import { requirePlace } from './spend.ts';

/** Counts a mail that a client asks for; refuses `too_many_requests` when there were too many, whomever they were for. */
export async function countAsking(ctx: Context): Promise<void> {
  const { addressFailures: most } = ctx.config.limits;
  const client = { name: 'mails', of: networkOf(ctx.client.address), most, seconds: 60 };
  await transaction(() => requirePlace(ctx, client, 'Too many mails were asked for.'));
}

const mostInvitationsADay = 5;

/**
 * Whether one more invitation may be mailed to this address, whichever organization invites; call it inside the
 * transaction that queues the mail.
 */
export async function mayMailInvitation(ctx: Context, email: string): Promise<boolean> {
  const limit = { name: 'invited', of: email, most: mostInvitationsADay, seconds: 86_400 };
  return ctx.config.limits.enabled === 'off' || (await countUp(ctx, limit)) !== null;
}

/** So many of the hour's mails to somebody strangers leave to where that one has signed in lately. */
const kept = 2;

/**
 * Whether one more mail that anybody can ask for may go to this address (security P10): strangers do not use up all of
 * them. Call it inside the transaction that queues the mail.
 */
export async function mayMail(ctx: Context, email: string): Promise<boolean> {
  const { enabled, codeSends } = ctx.config.limits;
  if (enabled === 'off') return true;
  const most = (await isStranger(ctx, email)) ? Math.max(1, codeSends - kept) : codeSends;
  return (await countUp(ctx, { name: 'mails', of: email, most, seconds: 3600 })) !== null;
}
