import type { Context } from '../../../context.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { networkOf } from '../../../text/address.ts';
import { hasVerifiedDomain } from '../domain-names/owns.ts';
import { accountCaps } from './caps.ts';
import { countUp, type Limit, mailboxOf, requirePlace } from './limit.ts';

/** Counts a mail that a client requests, to any address. Refuses with `too_many_requests`. */
export async function countAsking(ctx: Context): Promise<void> {
  const { addressFailures: max } = ctx.config.limits;
  const client = { name: 'mails', of: networkOf(ctx.client.address), max, seconds: 60 };
  await transaction(() => requirePlace(ctx, client, 'Too many mails were requested.'));
}

const maxOfOrganization = 50;

/**
 * Counts an invitation, or a setup link by mail, of the organization and of the account (security
 * O6, O15). Refuses with `too_many_requests`. Call it inside the transaction of the change.
 */
export async function countInvitation(
  ctx: Context,
  { id, slug }: Pick<Organization, 'id' | 'slug'>,
): Promise<void> {
  const seconds = 86_400;
  const own = { name: 'invitations', of: id, max: maxOfOrganization, seconds };
  await requirePlace(ctx, own, `${slug} has invited ${maxOfOrganization} people within a day.`);
  if (ctx.actor.kind !== 'user') return;
  const { invitationsADay: max } = accountCaps;
  const limit = { name: 'invitations of account', of: ctx.actor.accountId, max, seconds };
  await requirePlace(ctx, limit, `An account can send at most ${max} invitations a day.`);
}

/**
 * The maximum number of invitations mailed to one mailbox in a day, from one organization and from
 * all. Besides the first `ofAll - kept`, organizations with a verified domain may mail one each, up
 * to `kept`.
 */
const maxInvitations = { ofOne: 2, ofAll: 5, kept: 2 };

/**
 * Counts an invitation of the organization to this address; false if the organization may mail no
 * more. Call it inside the transaction that queues the mail.
 */
export function mayMailInvitation(
  ctx: Context,
  email: string,
  organizationId: string,
): Promise<boolean> {
  return mayInvite(ctx, email, { apart: organizationId, max: maxInvitations.ofOne });
}

/**
 * Counts an invitation of any organization to this address; false if no more may be sent. Some are
 * reserved for organizations with a verified domain. Call it when the mail is sent.
 */
export async function maySendInvitation(
  ctx: Context,
  email: string,
  organizationId: string,
): Promise<boolean> {
  const { ofAll, kept } = maxInvitations;
  if (await mayInvite(ctx, email, { max: ofAll - kept })) return true;
  if (!(await hasVerifiedDomain(organizationId))) return false;
  const own = { apart: `own ${organizationId}`, max: 1 };
  return (
    (await mayInvite(ctx, email, own)) &&
    (await mayInvite(ctx, email, { apart: 'kept', max: kept }))
  );
}

async function mayInvite(
  ctx: Context,
  email: string,
  whose: Pick<Limit, 'apart' | 'max'>,
): Promise<boolean> {
  if (ctx.config.limits.enabled === 'off') return true;
  const limit = { name: 'invited', of: mailboxOf(email), ...whose, seconds: 86_400 };
  return (await countUp(ctx, limit)) !== null;
}

/**
 * Counts a note to the holder of an address that another account has asked for; false if the holder
 * had one today (security P18). Call it when the mail is sent.
 */
export async function mayTellHolder(ctx: Context, email: string): Promise<boolean> {
  if (ctx.config.limits.enabled === 'off') return true;
  const limit = { name: 'asked for', of: mailboxOf(email), max: 1, seconds: 86_400 };
  return (await countUp(ctx, limit)) !== null;
}

/** The mails per hour that strangers cannot request. */
const kept = 2;

/**
 * Counts a requested mail to the mailbox; false if no more may be sent (security P10). Strangers
 * cannot use up all mails. Call it when the mail is written, so that no response time reveals an
 * account (security P7).
 */
export async function maySendAsked(
  ctx: Context,
  email: string,
  stranger: boolean,
): Promise<boolean> {
  if (ctx.config.limits.enabled === 'off') return true;
  const { forAll, rest } = mailboxLimits(ctx, email);
  if ((await countUp(ctx, forAll)) !== null) return true;
  return !stranger && rest.max > 0 && (await countUp(ctx, rest)) !== null;
}

/** The limits of requested mails to a mailbox: one for everyone, then one for all but strangers. */
export function mailboxLimits({ config }: Pick<Context, 'config'>, email: string) {
  const { codeSends } = config.limits;
  const max = Math.max(1, codeSends - kept);
  const forAll = { name: 'mails', of: mailboxOf(email), max, seconds: 3600 };
  return { forAll, rest: { ...forAll, apart: 'rest', max: codeSends - max } };
}
