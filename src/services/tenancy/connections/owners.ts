import { hold } from '../../../database/hold.ts';
import { Membership } from '../../../database/models/membership.ts';
import { signInFailed } from '../../people/sessions/schema.ts';
import { type Approval, isApproved } from './approval.ts';

/** Why an unapproved connection refuses an owner, in events and in the log. */
export const ownerRefused = 'owner_not_approved';

/** Whether the account is an owner of any organization. */
export async function isOwnerAnywhere(accountId: string): Promise<boolean> {
  return (await Membership.count({ where: { accountId, role: 'owner' } })) > 0;
}

/**
 * Refuses the sign-in if the connection is unapproved and the account owns any organization
 * (security I8). The rollback of the sign-in also removes a link that it created. Locks the
 * account, because it may be getting the role now.
 */
export async function requireApprovedForOwner(
  connection: Pick<Approval, 'approved'>,
  accountId: string,
): Promise<void> {
  await hold.account(accountId);
  if (!isApproved(connection) && (await isOwnerAnywhere(accountId)))
    throw signInFailed(ownerRefused);
}
