import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { Tombstone } from '../../../database/models/tombstone.ts';
import { ensureMember } from '../memberships/join.ts';
import { findGoverningSettings } from './governing.ts';

/**
 * Makes a person with a newly proved address a member of the organization that has verified the
 * domain. The organization must let people sign up by themselves, and must not have removed this
 * person (security I5). Call it inside a transaction.
 */
export async function joinByDomain(ctx: Context, account: Account, origin: Origin): Promise<void> {
  const { organizationId, verified, settings } = await findGoverningSettings(ctx, account.email);
  if (organizationId === null || !verified || !settings.allowSelfSignup) return;
  if ((await Tombstone.count({ where: { organizationId, accountId: account.id } })) > 0) return;
  await ensureMember(ctx, organizationId, account, origin);
}
