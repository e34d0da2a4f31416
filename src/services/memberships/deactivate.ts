import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { Membership } from '../../database/models/membership.ts';
import { Tombstone } from '../../database/models/tombstone.ts';
import { lockAccount } from '../accounts/lock.ts';
import { ownsAddress } from '../domains/owns.ts';
import { leaveProjects } from '../projects/leave.ts';
import { recordLeft } from '../scim/records/member.ts';
import { endSessions } from '../sessions/end.ts';

/**
 * Drops the membership and those of its projects, and sets the tombstone; ends the sessions that came through the organization's
 * connections, and all of them when it has verified the domain of the address (security I5).
 */
export async function deactivate(ctx: Context, organizationId: string, account: Account): Promise<void> {
  const key = { organizationId, accountId: account.id };
  await lockAccount(account.id);
  await Membership.destroy({ where: key });
  await leaveProjects(organizationId, account.id);
  await Tombstone.destroy({ where: key });
  await Tombstone.create({ ...key, setAt: ctx.now });
  await recordLeft(ctx, organizationId, account.id);
  await endSessions(
    ctx,
    (await ownsAddress(organizationId, account.email)) ? { accountId: account.id } : key,
  );
}
