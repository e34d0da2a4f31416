import { Transaction } from 'sequelize';
import { Account } from '../../database/models/account.ts';
import { Membership } from '../../database/models/membership.ts';
import type { Organization } from '../../database/models/organization.ts';
import { Refusal } from '../../errors.ts';
import { isUuid } from '../fields.ts';

/**
 * The member of this id or canonical address, or `not_found`, which tells nothing of accounts elsewhere. With `hold`
 * the membership stays as it is until the transaction ends.
 */
export async function requireMembership(
  organization: Organization,
  user: string,
  { hold = false }: { hold?: boolean } = {},
) {
  const membership = await Membership.findOne({
    where: { organizationId: organization.id },
    include: {
      model: Account,
      as: 'account',
      required: true,
      where: isUuid(user) ? { id: user } : { email: user },
    },
    ...(hold ? { lock: { level: Transaction.LOCK.UPDATE, of: Membership } } : {}),
  });
  if (membership === null) throw new Refusal('not_found', `${user} is not a member of ${organization.slug}.`);
  return { membership, account: membership.account };
}
