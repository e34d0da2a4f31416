import type { Membership } from '../../../database/models/membership.ts';
import type { Shown } from '../../foundation/authority/shown.ts';

/** A member as the organization sees them. */
export function viewMember(membership: Membership, { email, name }: Shown) {
  return {
    userId: membership.accountId,
    email,
    name,
    role: membership.role,
    origin: membership.origin,
    joinedAt: membership.joinedAt.toISOString(),
  };
}
