import { createHash, createHmac } from 'node:crypto';
import { Op } from 'sequelize';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { Membership, type Role } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { isAllowed } from '../../foundation/authority/require.ts';
import { rightToGrant } from '../memberships/grant.ts';

// An invitation: its token, how to find it, and its inviter.

/**
 * The token of an invitation, 128 bits (security O6). It is derived from the id by a key of its
 * own: the daemon mails it without storing it.
 */
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

/** Selects invitations that can still be accepted. */
export function waiting(ctx: Pick<Context, 'now'>) {
  return { acceptedAt: null, expiresAt: { [Op.gt]: ctx.now } };
}

/** The unexpired invitation of this token with its organization, accepted or not. */
export function findByToken(ctx: Context, token: string): Promise<Invitation | null> {
  return Invitation.findOne({
    where: { tokenHash: hashInvitationToken(token), expiresAt: { [Op.gt]: ctx.now } },
    include: { model: Organization, as: 'organization', required: true },
  });
}

/** The content of an invitation mail, or null if the invitation can no longer be accepted. */
export async function describeInvitation(ctx: Context, id: string) {
  const invitation = await Invitation.findOne({
    where: { id, ...waiting(ctx) },
    include: { model: Organization, as: 'organization', required: true },
  });
  const token = invitationToken(ctx, id);
  // Made with an earlier master key: only the inviter has the link.
  if (invitation === null || invitation.tokenHash !== hashInvitationToken(token)) return null;
  const { email, role, organization } = invitation;
  const inviter = await inviterName(invitation);
  return { email, role, inviter, organization: organization.name, url: invitationUrl(ctx, token) };
}

/**
 * The row of the authority table that an actor needs to invite into this role: the row to grant the
 * role.
 */
export function rightToInvite(role: Role) {
  return role === 'member' ? 'invitations.change' : rightToGrant(role);
}

/** The name of the account that invited; null for the operator. */
export async function inviterName({ invitedBy }: Invitation): Promise<string | null> {
  if (invitedBy === null) return null;
  return (await Account.findByPk(invitedBy, { attributes: ['name'] }))?.name ?? null;
}

/** Whether the inviter may still invite and is not disabled; if not, the invitation is invalid. */
export async function inviterStands({
  invitedBy,
  organizationId,
  role,
}: Invitation): Promise<boolean> {
  if (invitedBy === null) return true;
  const inviter = await Membership.findOne({
    where: { organizationId, accountId: invitedBy },
    include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
  });
  return inviter !== null && isAllowed(inviter.role, rightToInvite(role));
}
