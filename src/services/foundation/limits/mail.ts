import { networkOf } from '../../../address.ts';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { hasVerifiedDomain } from '../domain-names/owns.ts';
import { countUp } from './count.ts';
import type { Limit } from './limit.ts';
import { mailboxOf } from './mailbox.ts';
import { requirePlace } from './spend.ts';

/**
 * Counts a mail that a client requests. Refuses `too_many_requests` after too many, whatever their
 * recipients.
 */
export async function countAsking(ctx: Context): Promise<void> {
  const { addressFailures: most } = ctx.config.limits;
  const client = { name: 'mails', of: networkOf(ctx.client.address), most, seconds: 60 };
  await transaction(() => requirePlace(ctx, client, 'Too many mails were requested.'));
}

/**
 * How many invitations are mailed to one mailbox in a day: from one organization, and from all.
 * Some of the latter are kept for organizations with a verified domain, one each.
 */
const mostInvitations = { ofOne: 2, ofAll: 5, kept: 2 };

/**
 * Whether the organization may have one more invitation mailed to this address. Its own share, so
 * it uses up no other's, and learns nothing of theirs. Call it inside the transaction that queues
 * the mail.
 */
export function mayMailInvitation(
  ctx: Context,
  email: string,
  organizationId: string,
): Promise<boolean> {
  return mayInvite(ctx, email, { apart: organizationId, most: mostInvitations.ofOne });
}

/**
 * Whether one more invitation of this organization may reach this address, counting those of all
 * organizations. Counted when it is sent. Organizations without a verified domain cannot use up the
 * places of those with one.
 */
export async function maySendInvitation(
  ctx: Context,
  email: string,
  organizationId: string,
): Promise<boolean> {
  const { ofAll, kept } = mostInvitations;
  if (await mayInvite(ctx, email, { most: ofAll - kept })) return true;
  if (!(await hasVerifiedDomain(organizationId))) return false;
  const own = { apart: `own ${organizationId}`, most: 1 };
  return (
    (await mayInvite(ctx, email, own)) &&
    (await mayInvite(ctx, email, { apart: 'kept', most: kept }))
  );
}

async function mayInvite(
  ctx: Context,
  email: string,
  whose: Pick<Limit, 'apart' | 'most'>,
): Promise<boolean> {
  if (ctx.config.limits.enabled === 'off') return true;
  const limit = { name: 'invited', of: mailboxOf(email), ...whose, seconds: 86_400 };
  return (await countUp(ctx, limit)) !== null;
}

/**
 * So many of a mailbox's mails per hour are kept for networks where its person has signed in
 * lately.
 */
const kept = 2;

/**
 * Whether one more mail that anyone can request may go to the mailbox of this address (security
 * P10). Strangers cannot use up all of them. Counted when it is sent, when no requester waits: so
 * its timing does not reveal earlier mails (security P7). Call it inside a transaction.
 */
export async function maySendAsked(
  ctx: Context,
  email: string,
  stranger: boolean,
): Promise<boolean> {
  const { enabled, codeSends } = ctx.config.limits;
  if (enabled === 'off') return true;
  const forAll = {
    name: 'mails',
    of: mailboxOf(email),
    most: Math.max(1, codeSends - kept),
    seconds: 3600,
  };
  if ((await countUp(ctx, forAll)) !== null) return true;
  const rest = { ...forAll, apart: 'rest', most: codeSends - forAll.most };
  return !stranger && rest.most > 0 && (await countUp(ctx, rest)) !== null;
}
