import type { Role } from '../../../database/models/membership.ts';
import { selectAmong } from '../../../database/select.ts';

/** The account that created an invitation. */
export interface Inviter {
  /** The id of the invitation. */
  id: string;
  /** The account's present role in the organization; null if it left. */
  role: Role | null;
  /** Null unless the account is disabled. */
  disabled: unknown;
}

/** The accounts that created these invitations, if they still exist. */
export function findInviters(invitationIds: string[]): Promise<Inviter[]> {
  return selectAmong<Inviter>(
    invitationIds,
    (list) => `SELECT i.id, m.role, a.disabled_at AS disabled
       FROM invitations i JOIN accounts a ON a.id = i.invited_by
       LEFT JOIN memberships m ON m.account_id = a.id AND m.organization_id = i.organization_id
      WHERE i.id IN (${list})`,
  );
}
