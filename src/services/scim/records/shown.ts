import type { Account } from '../../../database/models/account.ts';
import { Domain } from '../../../database/models/domain.ts';
import { ScimRecord } from '../../../database/models/scim-record.ts';
import { domainOf } from '../../domains/canonical.ts';
import { emailOf, nameOf } from '../resource.ts';
import { resourceOf } from './write.ts';

/** What an organization sees of a person. */
export interface Shown {
  email: string | null;
  name: string;
}

/**
 * What the organization sees of these accounts. Whoever its provisioning took in by an address that is not on a domain it
 * has verified stays what its client said they are: anybody's account could be read by its address otherwise (security I4).
 */
export async function shownTo(
  organizationId: string,
  accounts: Account[],
): Promise<(account: Account) => Shown> {
  const attached = await ScimRecord.findAll({
    where: { organizationId, accountId: accounts.map(({ id }) => id), link: 'attached' },
  });
  const verified = attached.length === 0 ? [] : await findVerifiedNames(organizationId);
  const records = new Map(attached.map((record) => [record.accountId, record]));
  return (account) => {
    const record = records.get(account.id);
    const own = account.email !== null && verified.includes(domainOf(account.email));
    return record === undefined || own ? { email: account.email, name: account.name } : saidBy(record);
  };
}

/** As `shownTo`, of one. */
export async function shownIn(organizationId: string, account: Account): Promise<Shown> {
  return (await shownTo(organizationId, [account]))(account);
}

/** What the client says of a person. */
function saidBy(record: ScimRecord): Shown {
  const resource = resourceOf(record);
  return { email: emailOf(resource), name: nameOf(resource) ?? record.userName };
}

async function findVerifiedNames(organizationId: string): Promise<string[]> {
  const domains = await Domain.findAll({ where: { organizationId, state: 'Verified' } });
  return domains.map(({ name }) => name);
}
