import type { Actor } from '../../../context.ts';
import type { Origin, Role } from '../../../database/models/membership.ts';

/** The row of the authority table that an actor needs to grant this role in an organization. */
export function rightToGrant(role: Role) {
  if (role === 'owner') return 'members.grantOwner';
  return role === 'admin' ? 'members.grantAdmin' : 'members.change';
}

/** The origin of a membership that this actor makes by hand. */
export function byHand(actor: Actor): Origin {
  return actor.kind === 'user' ? { kind: 'manual', by: actor.accountId } : { kind: 'operator' };
}
