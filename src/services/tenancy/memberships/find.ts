import { Transaction } from 'sequelize';
import { Account } from '../../../database/models/account.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { Refusal } from '../../../errors.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { isUuid } from '../../foundation/fields.ts';
import { lockAccount } from '../../people/accounts/lock.ts';

/**
 * The member with this id or canonical address; refuses `not_found`, which tells nothing of
 * accounts elsewhere. With `hold` the membership stays as it is until the transaction ends. `shown`
 * is what the organization sees of the member.
 */
export async function requireMembership(
  organization: Organization,
  user: string,
  { hold = false }: { hold?: boolean } = {},
) {
  const account = await Account.findOne({ where: isUuid(user) ? { id: user } : { email: user } });
  // The account before the membership, as everywhere, so that no two transactions deadlock.
  if (hold && account !== null) await lockAccount(account.id);
  const membership =
    account &&
    (await Membership.findOne({
      where: { organizationId: organization.id, accountId: account.id },
      ...(hold ? { lock: Transaction.LOCK.UPDATE } : {}),
    }));
  if (account === null || membership === null) {
    throw new Refusal('not_found', `${user} is not a member of ${organization.slug}.`);
  }
  return { membership, account, shown: await shownIn(organization.id, account) };
}

/** Whether the account belongs to the organization. */
export async function isMember(organizationId: string, accountId: string): Promise<boolean> {
  return (await Membership.count({ where: { organizationId, accountId } })) > 0;
}

/** Whether the account is a member of any organization. */
export async function belongsSomewhere(accountId: string): Promise<boolean> {
  return (await Membership.findOne({ where: { accountId } })) !== null;
}
