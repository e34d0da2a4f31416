import type { Context } from '../../../context.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { Organization } from '../../../database/models/organization.ts';
import { waiting } from './find.ts';
import { inviterName } from './inviter.ts';
import { hashInvitationToken, invitationToken, invitationUrl } from './token.ts';

/** What the mail of an invitation says, or null when it can no longer be accepted. */
export async function describeInvitation(ctx: Context, id: string) {
  const invitation = await Invitation.findOne({
    where: { id, ...waiting(ctx) },
    include: { model: Organization, as: 'organization', required: true },
  });
  const token = invitationToken(ctx, id);
  // Made with an earlier master key: whoever invited has the only link.
  if (invitation === null || invitation.tokenHash !== hashInvitationToken(token)) return null;
  const { email, role, organization } = invitation;
  const inviter = await inviterName(invitation);
  return { email, role, inviter, organization: organization.name, url: invitationUrl(ctx, token) };
}
