import type { Context } from '../../context.ts';
import { transaction } from '../../database/transaction.ts';
import { hasVerifiedDomain } from '../domains/owns.ts';
import { countUp } from './count.ts';
import type { Limit } from './limit.ts';
import { mailboxOf } from './mailbox.ts';
import { networkOf } from './network.ts';
import { isStranger } from './password.ts';
import { giveBack, requirePlace } from './spend.ts';

/** Counts a mail that a client asks for; refuses `too_many_requests` when there were too many, whomever they were for. */
export async function countAsking(ctx: Context): Promise<void> {
  const { addressFailures: most } = ctx.config.limits;
  const client = { name: 'mails', of: networkOf(ctx.client.address), most, seconds: 60 };
  await transaction(() => requirePlace(ctx, client, 'Too many mails were requested.'));
}

/**
 * How many invitations are mailed to one mailbox in a day: of one organization, and of all. Some of the latter are kept
 * for organizations with a verified domain, one each.
 */
const mostInvitations = { ofOne: 2, ofAll: 5, kept: 2 };

/**
 * Whether the organization may have one more invitation mailed to this address: its share, so that it does not use up
 * those of others, and learns nothing of theirs. Call it inside the transaction that queues the mail.
 */
export function mayMailInvitation(ctx: Context, email: string, organizationId: string): Promise<boolean> {
  return mayInvite(ctx, email, { apart: organizationId, most: mostInvitations.ofOne });
}

/**
 * Whether one more invitation of this organization may reach this address, whichever organizations invite: counted when it
 * is sent. Organizations that have verified no domain cannot use up the places of those that have.
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
  return (await mayInvite(ctx, email, own)) && (await mayInvite(ctx, email, { apart: 'kept', most: kept }));
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

/** So many of the hour's mails to somebody strangers leave to where that one has signed in lately. */
const kept = 2;

/** A place among the hour's mails to a mailbox: one that strangers may take too, or one of the rest. */
export type MailPlace = 'for all' | 'rest';

/**
 * Takes a place for one more mail that anybody can ask for to the mailbox of this address; null when there is none (security
 * P10): strangers do not use up all of them. Call it inside the transaction that queues the mail. What is kept back from a
 * stranger is counted too, apart: not even from the work does anybody learn of whom some are kept (security P7).
 */
export async function takeMailPlace(ctx: Context, email: string): Promise<MailPlace | null> {
  if (ctx.config.limits.enabled === 'off') return 'for all';
  const stranger = await isStranger(ctx, email);
  const { forAll, rest } = mailLimits(ctx, email);
  if ((await countUp(ctx, forAll)) !== null) return 'for all';
  const counted =
    rest.most > 0 && (await countUp(ctx, stranger ? { ...rest, apart: 'kept back' } : rest)) !== null;
  return counted && !stranger ? 'rest' : null;
}

/** Gives the place of a mail back that is not sent. */
export async function giveMailPlaceBack(ctx: Context, email: string, place: MailPlace): Promise<void> {
  const { forAll, rest } = mailLimits(ctx, email);
  await giveBack(ctx, [place === 'for all' ? forAll : rest]);
}

function mailLimits(ctx: Context, email: string): { forAll: Limit; rest: Limit } {
  const { codeSends } = ctx.config.limits;
  const forAll = { name: 'mails', of: mailboxOf(email), most: Math.max(1, codeSends - kept), seconds: 3600 };
  return { forAll, rest: { ...forAll, apart: 'rest', most: codeSends - forAll.most } };
}
