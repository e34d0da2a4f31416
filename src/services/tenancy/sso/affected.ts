import { z } from 'zod';
import { Account } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Membership } from '../../../database/models/membership.ts';
import { shownTo } from '../../foundation/authority/shown.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { affectedMembershipView, findGivenBy } from '../projects/view.ts';

/** The people linked through a connection, the owners among them, and the memberships it gave. */
export const affectedView = z.object({
  people: z.array(z.string()),
  owners: z.array(z.string()),
  memberships: z.array(affectedMembershipView),
});

/**
 * The members affected if a connection is removed or disabled, or loses this domain (security D5,
 * O3), as the organization sees them.
 */
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
  const onDomain = domain === undefined ? linked : linked.filter(isOn);
  const accountId = onDomain.map((identity) => identity.accountId);
  const members = await Membership.findAll({ where: { organizationId, accountId } });
  const roles = new Map(members.map((member) => [member.accountId, member.role]));
  const identities = onDomain.filter((identity) => roles.has(identity.accountId));
  const shown = await shownTo(
    organizationId,
    identities.map(({ account }) => account),
  );
  const named = ({ account }: Identity) => shown(account).email ?? shown(account).name;
  return {
    people: identities.map(named),
    owners: identities.filter((identity) => roles.get(identity.accountId) === 'owner').map(named),
    memberships: await findGivenBy(organizationId, id),
  };
}

/** The answer if no one is affected. */
export const nobodyAffected: Awaited<ReturnType<typeof findAffected>> = {
  people: [],
  owners: [],
  memberships: [],
};
