import { Account } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import { Membership } from '../../database/models/membership.ts';

/** The addresses of the organization's owners who sign in through the connection. */
export async function findOwnersWithIdentity(
  organizationId: string,
  connectionId: string,
): Promise<string[]> {
  const identities = await Identity.findAll({ where: { connectionId }, attributes: ['accountId'] });
  const owners = await Membership.findAll({
    where: { organizationId, role: 'owner', accountId: identities.map((identity) => identity.accountId) },
    include: { model: Account, as: 'account', required: true },
  });
  return owners.map((owner) => owner.account.email ?? owner.account.name);
}
