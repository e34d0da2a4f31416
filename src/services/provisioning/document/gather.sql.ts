import type { Account } from '../../../database/models/account.ts';
import { select, selectAmong } from '../../../database/select.ts';

// The SQL of the facts that a plan needs beyond the organization's own state.

/** An account that an address names. */
export type Found = Pick<Account, 'id' | 'email' | 'emailProof' | 'name'>;

/** The accounts with these addresses. */
export function findByAddresses(addresses: string[]): Promise<Found[]> {
  return selectAmong<Found>(
    addresses,
    (list) =>
      `SELECT id, email, name, email_proof AS "emailProof" FROM accounts WHERE email IN (${list})`,
  );
}

/** The accounts that the connection has linked, in the order of their ids. */
export async function findLinkedAccounts(connectionId: string): Promise<string[]> {
  const rows = await select<{ id: string }>(
    'SELECT account_id AS id FROM identities WHERE connection_id = $1 ORDER BY account_id',
    [connectionId],
  );
  return rows.map(({ id }) => id);
}

/** A SCIM group and its names. */
interface GroupRow {
  id: string;
  name: string;
  externalId: string | null;
}

/** The SCIM groups of the organization. */
export function listGroups(organizationId: string): Promise<GroupRow[]> {
  return select<GroupRow>(
    `SELECT id, display_name AS name, external_id AS "externalId"
       FROM scim_groups WHERE organization_id = $1`,
    [organizationId],
  );
}

/** Those of the accounts that are in the SCIM group. */
export async function findMembersAmong(
  organizationId: string,
  groupId: string,
  accountIds: readonly string[],
): Promise<string[]> {
  const rows = await selectAmong<{ accountId: string }>(
    accountIds,
    (list, next) => `SELECT r.account_id AS "accountId"
       FROM scim_records r JOIN scim_group_members m ON m.record_id = r.id AND m.group_id = ${next}
      WHERE r.account_id IN (${list}) AND r.organization_id = $${Number(next.slice(1)) + 1}`,
    [groupId, organizationId],
  );
  return rows.map(({ accountId }) => accountId);
}
