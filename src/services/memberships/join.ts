import type { Context } from '../../context.ts';
import type { Account } from '../../database/models/account.ts';
import { Membership, type Origin, type Role } from '../../database/models/membership.ts';
import type { Organization } from '../../database/models/organization.ts';
import { Tombstone } from '../../database/models/tombstone.ts';
import { refusingDuplicate } from '../../database/unique.ts';
import { recordEvent } from '../events/record.ts';

/** Writes a membership and lifts the tombstone, if any. Refuses `already_exists` for a member. */
export async function joinOrganization(
  ctx: Context,
  organization: Pick<Organization, 'id' | 'slug'>,
  account: Account,
  as: { role: Role; origin: Origin },
): Promise<Membership> {
  const key = { organizationId: organization.id, accountId: account.id };
  const membership = await refusingDuplicate(Membership.create({ ...key, ...as, joinedAt: ctx.now }), {
    message: `${account.email ?? account.name} is a member of ${organization.slug} already.`,
    hint: 'idctl member role changes what they may do.',
  });
  await Tombstone.destroy({ where: key });
  await recordEvent(ctx, {
    kind: 'member.added',
    organizationId: organization.id,
    subject: { type: 'user', id: account.id, name: account.name },
    data: { role: as.role, origin: as.origin.kind },
  });
  return membership;
}
