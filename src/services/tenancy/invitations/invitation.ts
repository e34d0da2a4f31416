import { createHash, createHmac } from 'node:crypto';
import { Op } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import type { Role } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { isAllowed } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, instant, role } from '../../foundation/fields.ts';
import { joinOrganization } from '../memberships/join-and-leave.ts';
import { rightToGrant } from '../memberships/membership.ts';
import { isJoined } from '../memberships/memberships.sql.ts';
import { findInviters, type Inviter } from './invitations.sql.ts';

// An invitation: its token, how to find it, and its inviter.

/** The reasons for which an unexpired invitation is invalid. It is valid again once they end. */
const invalidReasons = ['inviter_left', 'inviter_disabled', 'inviter_role'] as const;
type InvalidReason = (typeof invalidReasons)[number];

export const invitationView = z.object({
  id,
  email: z.string(),
  role,
  expiresAt: instant,
  invalidBecause: z
    .enum(invalidReasons)
    .nullable()
    .describe(
      'Why the invitation is invalid now: its inviter left, is disabled, or may no longer invite people to this role. Null if it is valid.',
    ),
});

/** The invitation with its token and link, which are shown once. */
export const newInvitationView = invitationView.extend({
  token: z.string(),
  url: z.string(),
  mailed: z.boolean().describe('Whether a mail with the link was queued.'),
  mailLimited: z
    .boolean()
    .describe(
      'Whether no mail was queued because the organization mailed two invitations to this address within a day.',
    ),
  replaced: z
    .boolean()
    .describe(
      'Whether this invitation replaces an earlier one for this address, which is now revoked.',
    ),
});

/** The organization that an account became a member of, and its role there. */
export const acceptedView = z.object({
  organization: z.object({ id, slug: z.string(), name: z.string() }),
  role,
});

/** An invitation as the organization's admins see it. */
export function viewInvitation(
  { id, email, role, expiresAt }: Invitation,
  invalidBecause: InvalidReason | null,
) {
  return { id, email, role, expiresAt: expiresAt.toISOString(), invalidBecause };
}

/** An invitation's token, derived from its id: only its hash is stored (security O6). */
export function invitationToken(ctx: Pick<Context, 'keyring'>, id: string): string {
  const mac = createHmac('sha256', ctx.keyring.derive('invitations')).update(id).digest();
  return mac.subarray(0, 16).toString('base64url');
}

/** The stored form of a token, SHA-256 in hex. */
export function hashInvitationToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The URL at which the invited person uses the token. */
export function invitationUrl({ config }: Pick<Context, 'config'>, token: string): string {
  return `${config.baseUrl}/login?invitation=${token}`;
}

/** The condition for invitations that can still be accepted. */
export function waiting(ctx: Pick<Context, 'now'>) {
  return { acceptedAt: null, expiresAt: { [Op.gt]: ctx.now } };
}

/** Whether an invitation to the organization can be accepted by the person of this address. */
export async function isInvited(
  ctx: Context,
  organizationId: string,
  address: string,
): Promise<boolean> {
  const where = { organizationId, email: address, ...waiting(ctx) };
  const invitation = await Invitation.findOne({ where });
  return invitation !== null && (await whyInvalid(invitation)) === null;
}

/** The unexpired invitation of this token with its organization, accepted or not. */
export function findByToken(ctx: Context, token: string): Promise<Invitation | null> {
  return Invitation.findOne({
    where: { tokenHash: hashInvitationToken(token), expiresAt: { [Op.gt]: ctx.now } },
    include: { model: Organization, as: 'organization', required: true },
  });
}

/** The invitation of this token, if it can be accepted now. */
export async function findValid(ctx: Context, token: string): Promise<Invitation | null> {
  const invitation = await findByToken(ctx, token);
  if (invitation === null || invitation.acceptedAt !== null) return null;
  return (await whyInvalid(invitation)) === null ? invitation : null;
}

/**
 * The content of an invitation mail. Null if the invitation can no longer be accepted, or if its
 * link is unknown.
 */
export async function describeInvitation(ctx: Context, id: string) {
  const invitation = await Invitation.findOne({
    where: { id, ...waiting(ctx) },
    include: { model: Organization, as: 'organization', required: true },
  });
  const token = invitationToken(ctx, id);
  // The token was created with an earlier master key, so only the inviter has the link.
  if (invitation === null || invitation.tokenHash !== hashInvitationToken(token)) return null;
  if ((await whyInvalid(invitation)) !== null) return null;
  const { email, role, organization } = invitation;
  const inviter = await inviterName(invitation);
  return { email, role, inviter, organization: organization.name, url: invitationUrl(ctx, token) };
}

/** The refusal of an invalid invitation, the same for every reason. */
export function invitationInvalid(): Refusal {
  return new Refusal('invitation_invalid', 'This invitation is invalid or has expired.', {
    hint: 'Ask for a new one.',
  });
}

/** The right that an actor needs to invite into this role. */
export function rightToInvite(role: Role) {
  return role === 'member' ? 'invitations.change' : rightToGrant(role);
}

/** The name of the account that invited; null for the operator. */
export async function inviterName({ invitedBy }: Invitation): Promise<string | null> {
  if (invitedBy === null) return null;
  return (await Account.findByPk(invitedBy, { attributes: ['name'] }))?.name ?? null;
}

/**
 * If the inviter makes this invitation invalid, the reason; otherwise null. Every use of an
 * invitation checks this (security O6). The operator's invitations stay valid.
 */
export async function whyInvalid(invitation: Invitation): Promise<InvalidReason | null> {
  const { id } = invitation;
  return (await findInvalid([invitation])).get(id) ?? null;
}

/** The reasons of those invitations that are invalid, by id. */
export async function findInvalid(invitations: Invitation[]): Promise<Map<string, InvalidReason>> {
  const invited = invitations.filter(({ invitedBy }) => invitedBy !== null);
  const inviters = await findInviters(invited.map(({ id }) => id));
  const found = new Map(inviters.map((inviter) => [inviter.id, inviter]));
  return new Map(
    invited.flatMap(({ id, role }) => {
      const reason = whyRefused(found.get(id), role);
      return reason === null ? [] : [[id, reason] as const];
    }),
  );
}

function whyRefused(inviter: Inviter | undefined, invitedAs: Role): InvalidReason | null {
  if (inviter === undefined || inviter.role === null) return 'inviter_left';
  if (inviter.disabled !== null) return 'inviter_disabled';
  return isAllowed(inviter.role, rightToInvite(invitedAs)) ? null : 'inviter_role';
}

/** Records that the account signed up with the invitation, to join once its address is verified. */
export async function bindInvitation(id: string, account: Account): Promise<void> {
  await Invitation.update({ accountId: account.id }, { where: { id, email: account.email ?? '' } });
}

/** Makes the account a member if it signed up with an invitation. Call it inside a transaction. */
export async function joinInvited(ctx: Context, account: Account): Promise<void> {
  const invitations = await Invitation.findAll({
    where: { accountId: account.id, ...waiting(ctx) },
    include: { model: Organization, as: 'organization', required: true },
  });
  for (const invitation of invitations) {
    if (
      (await whyInvalid(invitation)) !== null ||
      (await isJoined(ctx, invitation.organizationId, account.id))
    )
      continue;
    await joinByInvitation(ctx, invitation, account);
  }
}

/**
 * Spends the invitation and writes the membership, which lifts the tombstone, if any (security I5).
 * Returns the person's new role; null if the invitation could not be spent.
 */
export async function joinByInvitation(
  ctx: Context,
  invitation: Invitation,
  account: Account,
): Promise<Role | null> {
  const { id, organization, role, invitedBy } = invitation;
  const [spent] = await Invitation.update(
    { acceptedAt: ctx.now, accountId: account.id },
    { where: { id, ...waiting(ctx) } },
  );
  if (spent === 0) return null;
  const by = invitedBy === null ? {} : { by: invitedBy };
  const membership = await joinOrganization(ctx, organization, account, {
    role,
    origin: { kind: 'invitation', ...by },
  });
  await recordEvent(ctx, {
    kind: 'invitation.accepted',
    organizationId: organization.id,
    subject: { type: 'invitation', id, name: invitation.email },
    data: { role, account: account.id },
  });
  return membership.role;
}
