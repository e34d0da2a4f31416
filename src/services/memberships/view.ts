import type { Account } from '../../database/models/account.ts';
import type { Membership } from '../../database/models/membership.ts';

/** A member as the organization sees them. */
export function viewMember(membership: Membership, account: Account) {
  return {
    userId: account.id,
    email: account.email,
    name: account.name,
    role: membership.role,
    origin: membership.origin,
    joinedAt: membership.joinedAt.toISOString(),
  };
}
