import { Account } from '../../../database/models/account.ts';
import type { Invitation } from '../../../database/models/invitation.ts';
import { Membership, type Role } from '../../../database/models/membership.ts';
import { isAllowed } from '../../foundation/authority/require.ts';
import { rightToGrant } from '../memberships/grant.ts';

/** What inviting somebody into this role asks of whoever invites: what granting it by hand does. */
export function operationFor(role: Role) {
  return role === 'member' ? 'invitations.change' : rightToGrant(role);
}

/** The name of the account that invited; null for the operator. */
export async function inviterName({ invitedBy }: Invitation): Promise<string | null> {
  if (invitedBy === null) return null;
  return (await Account.findByPk(invitedBy, { attributes: ['name'] }))?.name ?? null;
}

/**
 * Whether whoever invited may still do so, and is not shut out: an invitation does not outlive the word of whoever gave
 * it.
 */
export async function inviterStands({ invitedBy, organizationId, role }: Invitation): Promise<boolean> {
  if (invitedBy === null) return true;
  const inviter = await Membership.findOne({
    where: { organizationId, accountId: invitedBy },
    include: { model: Account, as: 'account', required: true, where: { disabledAt: null } },
  });
  return inviter !== null && isAllowed(inviter.role, operationFor(role));
}
