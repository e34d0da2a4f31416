import type { Context } from '../../context.ts';
import { execute } from '../../database/execute.ts';
import type { Account } from '../../database/models/account.ts';
import { lockAccount } from '../accounts/lock.ts';
import { ownsAddress } from '../domains/owns.ts';
import { leaveProjects } from '../projects/leave.ts';
import { recordLeft } from '../scim/records/member.ts';
import { endSessions } from '../sessions/end.ts';

/**
 * Drops the membership and those of its projects, and sets the tombstone; ends the sessions that came through the organization's
 * connections, and all of them when it has verified the domain of the address (security I5).
 */
export async function deactivate(
  ctx: Context,
  organizationId: string,
  account: Pick<Account, 'id' | 'email'>,
): Promise<void> {
  const key = { organizationId, accountId: account.id };
  const bind = [organizationId, account.id];
  await lockAccount(account.id);
  await execute('DELETE FROM memberships WHERE organization_id = $1 AND account_id = $2', bind);
  await leaveProjects(organizationId, account.id);
  await execute(
    `INSERT INTO tombstones (organization_id, account_id, set_at) VALUES ($1, $2, $3)
     ON CONFLICT (organization_id, account_id) DO UPDATE SET set_at = excluded.set_at`,
    [...bind, ctx.now],
  );
  await recordLeft(ctx, organizationId, account.id);
  await endSessions(
    ctx,
    (await ownsAddress(organizationId, account.email)) ? { accountId: account.id } : key,
  );
}
