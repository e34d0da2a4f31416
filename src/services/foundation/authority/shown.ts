import { Account } from '../../../database/models/account.ts';
import { domainOf } from '../domain-names/canonical.ts';
import { findVerifiedNames } from '../domain-names/owns.ts';
import { readPage } from '../page.ts';
import { calledBy, emailOf, resourceOf } from '../scim-user/resource.ts';
import { findAllSaid, findSaid } from './shown.sql.ts';

/** A person as an organization sees them. */
export interface Shown {
  email: string | null;
  name: string;
}

type Person = Pick<Account, 'id' | 'email' | 'name'>;

/**
 * Returns how the organization sees these accounts. If SCIM provisioned a person at an address of a
 * foreign domain, the organization sees only the SCIM client's data. So an earlier account stays
 * hidden (security I4).
 */
export async function shownTo(
  organizationId: string,
  accounts: Pick<Account, 'id'>[] | 'all',
): Promise<(account: Person) => Shown> {
  const named =
    accounts === 'all'
      ? await findAllSaid(organizationId)
      : await findSaid(
          organizationId,
          accounts.map(({ id }) => id),
        );
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

/** Like `readPage`, for rows with an account, each shown as the organization sees the person. */
export async function readShown<Row extends { account: Account }, Item>(
  organizationId: string,
  at: Parameters<typeof readPage>[0],
  load: (after: string, count: number) => Promise<Row[]>,
  keyOf: (row: Row) => string,
  view: (row: Row, shown: Shown) => Item,
) {
  const { items, nextCursor } = await readPage(at, load, keyOf, (row) => row);
  const accounts = items.map(({ account }) => account);
  const shown = await shownTo(organizationId, accounts);
  return { items: items.map((row) => view(row, shown(row.account))), nextCursor };
}

/** Like `shownTo`, for one account. */
export async function shownIn(organizationId: string, account: Account): Promise<Shown> {
  return (await shownTo(organizationId, [account]))(account);
}

/** The actor's name as the organization sees it. `name` is the account's own name (security I4). */
export async function nameShownIn(
  organizationId: string,
  { accountId, name }: { accountId: string; name: string },
): Promise<string> {
  const account = await Account.findByPk(accountId);
  return account === null ? name : (await shownIn(organizationId, account)).name;
}

/** The SCIM client's data about a person; without an address if the account has none. */
function saidOf({ email }: Person, record: { resource: string }): Shown {
  const resource = resourceOf(record);
  return { email: email === null ? null : emailOf(resource), name: calledBy(resource) };
}
