import type { Role } from '../../../database/models/membership.ts';

/** The row of the authority table that giving this role in an organization needs. */
export function operationFor(role: Role) {
  if (role === 'owner') return 'members.grantOwner';
  return role === 'admin' ? 'members.grantAdmin' : 'members.change';
}
