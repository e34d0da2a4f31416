import { hold } from '../../../database/hold.ts';
import type { Account } from '../../../database/models/account.ts';
import { selectAmong } from '../../../database/select.ts';

// The SQL of steps for many members.

type Person = Pick<Account, 'id' | 'email' | 'name'>;

/** Locks these members of the organization: their accounts and their memberships. */
export function holdPeople(organizationId: string, accountIds: string[]): Promise<Person[]> {
  return hold.among<Person>(
    [
      accountIds,
      (list, organization) => `SELECT a.id, a.email, a.name FROM accounts a
         JOIN memberships m ON m.account_id = a.id AND m.organization_id = ${organization}
        WHERE a.id IN (${list}) ORDER BY a.id`,
      [organizationId],
    ],
    { kind: 'account', of: 'a', how: 'alone', id: ({ id }) => id },
    { kind: 'membership', of: 'm', how: 'whole', id: ({ id }) => `${organizationId} ${id}` },
  );
}

/** An account that may become a member. */
type Candidate = Person &
  Pick<Account, 'emailProof' | 'totpEnabledAt' | 'hasPasskey'> & { known: number };

/** Locks the accounts. `known` counts SCIM records of the account or with its address as name. */
export function holdCandidates(organizationId: string, accountIds: string[]): Promise<Candidate[]> {
  return hold.among<Candidate>(
    [
      accountIds,
      (list, organization) => `SELECT a.id, a.email, a.name, a.email_proof AS "emailProof",
          a.totp_enabled_at AS "totpEnabledAt", a.has_passkey AS "hasPasskey",
          (SELECT COUNT(*) FROM scim_records r WHERE r.organization_id = ${organization}
             AND (r.account_id = a.id OR r.user_name_canonical = a.email)) AS known
         FROM accounts a WHERE a.id IN (${list}) ORDER BY a.id`,
      [organizationId],
      { columns: { totpEnabledAt: 'time', hasPasskey: 'flag' } },
    ],
    { kind: 'account', of: 'a', how: 'alone', id: ({ id }) => id },
  );
}

/** Lifts the tombstones of these accounts in the organization. */
export async function liftTombstones(organizationId: string, accountIds: string[]): Promise<void> {
  await selectAmong(
    accountIds,
    (list, of) =>
      `DELETE FROM tombstones WHERE account_id IN (${list}) AND organization_id = ${of} RETURNING account_id`,
    [organizationId],
  );
}
