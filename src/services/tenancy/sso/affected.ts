import { z } from 'zod';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Membership } from '../../../database/models/membership.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { affectedMembershipView, findSynced } from '../projects/view.ts';

/** The people who sign in through a connection, the owners among them, and synced memberships. */
export const affectedView = z.object({
  people: z.array(z.string()),
  owners: z.array(z.string()),
  memberships: z.array(affectedMembershipView),
});
/** The people affected if a connection ends, or loses this domain (security D5, O3). */
export async function findAffected(
  connection: { id: string; organizationId: string },
  domain?: string,
) {
  const { id, organizationId } = connection;
  const linked = await Identity.findAll({
    where: { connectionId: id },
    include: { model: Account, as: 'account', required: true },
    order: ['accountId'],
  });
  const isOn = ({ account: { email } }: Identity) => email !== null && domainOf(email) === domain;
  const identities = domain === undefined ? linked : linked.filter(isOn);
  const owners = await Membership.findAll({ where: { organizationId, role: 'owner' } });
  const ownerIds = new Set(owners.map(({ accountId }) => accountId));
  const named = ({ account }: Identity) => account.email ?? account.name;
  return {
    people: identities.map(named),
    owners: identities.filter(({ accountId }) => ownerIds.has(accountId)).map(named),
    memberships: await findSynced(organizationId, ({ origin }) => origin.by === id),
  };
}

/** The answer if it affects no one. */
export const nobodyAffected: Awaited<ReturnType<typeof findAffected>> = {
  people: [],
  owners: [],
  memberships: [],
};
