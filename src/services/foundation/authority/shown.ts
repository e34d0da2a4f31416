import { Account } from '../../../database/models/account.ts';
import { ScimRecord } from '../../../database/models/scim-record.ts';
import { domainOf } from '../domain-names/canonical.ts';
import { findVerifiedNames } from '../domain-names/owns.ts';
import { calledBy } from '../scim-user/called.ts';
import { emailOf, resourceOf } from '../scim-user/resource.ts';

/** What an organization sees of a person. */
export interface Shown {
  email: string | null;
  name: string;
}

/**
 * What the organization sees of these accounts. A person that its provisioning named, by an address on a domain that it
 * has not verified, stays what its client says, whether there was an account before or not: anyone's account could be
 * read by its address otherwise, and whether there was one (security I4).
 */
export async function shownTo(
  organizationId: string,
  accounts: Account[],
): Promise<(account: Account) => Shown> {
  const named = await ScimRecord.findAll({
    where: {
      organizationId,
      accountId: accounts.map(({ id }) => id),
      link: ['attached', 'created'],
    },
  });
  const verified = named.length === 0 ? new Set() : await findVerifiedNames(organizationId);
  const records = new Map(named.map((record) => [record.accountId, record]));
  return (account) => {
    const record = records.get(account.id);
    const own = account.email !== null && verified.has(domainOf(account.email));
    return record === undefined || own
      ? { email: account.email, name: account.name }
      : saidOf(account, record);
  };
}

/** As `shownTo`, of one. */
export async function shownIn(organizationId: string, account: Account): Promise<Shown> {
  return (await shownTo(organizationId, [account]))(account);
}

/** What the organization calls the person who acts in it; `name` is their own (security I4). */
export async function nameShownIn(
  organizationId: string,
  { accountId, name }: { accountId: string; name: string },
): Promise<string> {
  const account = await Account.findByPk(accountId);
  return account === null ? name : (await shownIn(organizationId, account)).name;
}

/** What the client says of a person; no address where the account has none. */
function saidOf({ email }: Account, record: ScimRecord): Shown {
  const resource = resourceOf(record);
  return { email: email === null ? null : emailOf(resource), name: calledBy(resource) };
}
