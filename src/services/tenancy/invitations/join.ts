import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { Organization } from '../../../database/models/organization.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { isMember } from '../memberships/find.ts';
import { joinOrganization } from '../memberships/join.ts';
import { inviterStands, waiting } from './invitation.ts';

/** Records that this account signed up with the invitation, to join once its address is proved. */
export async function bindInvitation(id: string, account: Account): Promise<void> {
  await Invitation.update({ accountId: account.id }, { where: { id, email: account.email ?? '' } });
}

/** Makes the account a member if it signed up by invitation. Call it inside a transaction. */
export async function joinInvited(ctx: Context, account: Account): Promise<void> {
  const invitations = await Invitation.findAll({
    where: { accountId: account.id, ...waiting(ctx) },
    include: { model: Organization, as: 'organization', required: true },
  });
  for (const invitation of invitations) {
    if (
      !(await inviterStands(invitation)) ||
      (await isMember(invitation.organizationId, account.id))
    )
      continue;
    await joinByInvitation(ctx, invitation, account);
  }
}

/**
 * Spends the invitation and writes the membership, which lifts the tombstone, if any (security I5).
 * Returns whether the invitation could still be spent.
 */
export async function joinByInvitation(
  ctx: Context,
  invitation: Invitation,
  account: Account,
): Promise<boolean> {
  const { id, organization, role, invitedBy } = invitation;
  const [spent] = await Invitation.update(
    { acceptedAt: ctx.now, accountId: account.id },
    { where: { id, ...waiting(ctx) } },
  );
  if (spent === 0) return false;
  const by = invitedBy === null ? {} : { by: invitedBy };
  await joinOrganization(ctx, organization, account, {
    role,
    origin: { kind: 'invitation', ...by },
  });
  await recordEvent(ctx, {
    kind: 'invitation.accepted',
    organizationId: organization.id,
    subject: { type: 'invitation', id, name: invitation.email },
    data: { role, account: account.id },
  });
  return true;
}
