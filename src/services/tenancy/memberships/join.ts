import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { Membership, type Origin, type Role } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { selectTogether } from '../../../database/select.ts';
import { refusingDuplicate } from '../../../database/unique.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { lockAccount } from '../../people/accounts/lock.ts';
import { endVouchedTokens } from '../../people/apps/end-vouched.ts';
import { endSessionsPastSecondFactor } from '../../people/sessions/end.ts';
import { recordMember } from '../scim-records/member.ts';

/** The role of a new member, and how the membership came about. */
interface Joining {
  role: Role;
  origin: Origin;
}

/** Writes a membership and lifts the tombstone, if any. Refuses `already_exists` for a member. */
export async function joinOrganization(
  ctx: Context,
  organization: Pick<Organization, 'id' | 'slug'>,
  account: Account,
  as: Joining,
): Promise<Membership> {
  await lockAccount(account.id);
  const membership = await refusingDuplicate(addMembership(ctx, organization.id, account.id, as), {
    message: `${account.email ?? account.name} is a member of ${organization.slug} already.`,
    hint: 'idctl member role changes what they may do.',
  });
  await endSessionsPastSecondFactor(ctx, account.id);
  await endVouchedTokens(ctx, account.id, organization.id);
  await recordMember(ctx, organization.id, account);
  const { name } = await shownIn(organization.id, account);
  await recordEvent(ctx, {
    kind: 'member.added',
    organizationId: organization.id,
    subject: { type: 'user', id: account.id, name },
    data: { role: as.role, origin: as.origin.kind },
  });
  return membership;
}

/** Writes the membership alone: provisioning writes its own record and event. Bypasses the ORM. */
export async function addMembership(
  ctx: Context,
  organizationId: string,
  accountId: string,
  as: Joining,
): Promise<Membership> {
  const key = { organizationId, accountId };
  const { role, origin } = as;
  await selectTogether(
    [
      `INSERT INTO memberships (organization_id, account_id, role, origin, joined_at) VALUES ($1, $2, $3, $4, $5)
       RETURNING role`,
      'DELETE FROM tombstones WHERE organization_id = $1 AND account_id = $2',
    ],
    [organizationId, accountId, role, JSON.stringify(origin), ctx.now],
  );
  return Membership.build({ ...key, ...as, joinedAt: ctx.now }, { isNewRecord: false });
}

/**
 * Makes an account that signed in through the organization a member of it, unless it is one
 * (spec §4.1, §4.2). Call it after `beginSession`, which refuses removed accounts.
 */
export async function ensureMember(
  ctx: Context,
  organizationId: string,
  account: Account,
  origin: Origin,
): Promise<void> {
  if ((await Membership.findOne({ where: { organizationId, accountId: account.id } })) !== null)
    return;
  const organization = await Organization.findByPk(organizationId, { rejectOnEmpty: true });
  await joinOrganization(ctx, organization, account, { role: 'member', origin });
}
