import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Membership, type Origin } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { joinOrganization } from './join.ts';

/**
 * Makes whoever signed in through the organization a Member of it, unless they are one (spec §4.1, §4.2). Call it after
 * `beginSession`, which lets nobody pass who was taken out.
 */
export async function ensureMember(
  ctx: Context,
  organizationId: string,
  account: Account,
  origin: Origin,
): Promise<void> {
  if ((await Membership.findOne({ where: { organizationId, accountId: account.id } })) !== null) return;
  const organization = await Organization.findByPk(organizationId, { rejectOnEmpty: true });
  await joinOrganization(ctx, organization, account, { role: 'member', origin });
}
